package openai

import "github.com/toolrun/toolrun/host/model"

// Factory returns a model.Factory for the models in models.yaml.
func Factory() model.Factory {
	return model.Factory{
		Chat: func(entry model.Entry, key string) (model.Chat, error) { return fromEntry(entry, key) },
		Embedder: func(entry model.Entry, key string) (model.Embedder, error) {
			p, err := fromEntry(entry, key)
			if err != nil {
				return nil, err
			}
			return p.Embedder(EmbedOptions{Dim: entry.Dim, QueryPrefix: entry.QueryPrefix, DocumentPrefix: entry.DocumentPrefix, Batch: entry.Batch})
		},
	}
}

func fromEntry(entry model.Entry, key string) (*Provider, error) {
	return New(Options{
		BaseURL: entry.BaseURL, Model: entry.Model, Key: key, Proxy: entry.Proxy,
		Timeout: entry.Timeout, AnswerBytes: entry.AnswerBytes,
	})
}
