package openai

import (
	"context"
	"fmt"
	"math"

	"github.com/sashabaranov/go-openai"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
)

// EmbedOptions configures an embedder.
type EmbedOptions struct {
	// Dim is the number of dimensions of each vector of the model. Required.
	Dim int
	// QueryPrefix is put before each query. DocumentPrefix is put before each document. Some models
	// require such prefixes. Default: "".
	QueryPrefix, DocumentPrefix string
	// Batch is the maximum number of texts in one request. The maximum size of an answer also
	// limits the number of texts. Default: model.DefaultBatch.
	Batch int
}

// numberBytes is the maximum size of a number in an answer. Most servers do not write longer
// numbers.
const numberBytes = 24

type embedder struct {
	provider *Provider
	options  EmbedOptions
}

// Embedder returns an embedder that uses the model of the provider.
func (p *Provider) Embedder(options EmbedOptions) (model.Embedder, error) {
	const maxDim = 16_384
	if options.Dim < 1 || options.Dim > maxDim {
		return nil, fmt.Errorf("dim is %d, but must be between 1 and %d", options.Dim, maxDim)
	}
	options.Batch = positive(options.Batch, model.DefaultBatch)
	options.Batch = max(1, min(options.Batch, p.options.AnswerBytes/(options.Dim*numberBytes)))
	return &embedder{provider: p, options: options}, nil
}

// ID implements model.Embedder. The id contains all options that change the vectors. The id does
// not contain the base URL.
func (e *embedder) ID() string {
	id := fmt.Sprintf("openai:%s:%d", e.provider.options.Model, e.options.Dim)
	if e.options.QueryPrefix != "" || e.options.DocumentPrefix != "" {
		id += fmt.Sprintf(":%q:%q", e.options.QueryPrefix, e.options.DocumentPrefix)
	}
	return id
}

// Dim implements model.Embedder.
func (e *embedder) Dim() int { return e.options.Dim }

// MaxTexts implements model.Embedder.
func (e *embedder) MaxTexts() int { return e.options.Batch }

// Embed implements model.Embedder.
func (e *embedder) Embed(ctx context.Context, texts []string, purpose model.Purpose) ([][]float32, model.Usage, error) {
	prefix := e.options.DocumentPrefix
	switch {
	case purpose == model.Query:
		prefix = e.options.QueryPrefix
	case purpose != model.Document:
		return nil, model.Usage{}, abi.Faultf(abi.InvalidArgument, "the purpose of an embedding must be \"query\" or \"document\"")
	}
	if len(texts) > e.MaxTexts() {
		return nil, model.Usage{}, abi.Faultf(abi.TooLarge, "the request has %d texts; the limit is %d", len(texts), e.MaxTexts())
	}
	if len(texts) == 0 {
		return nil, model.Usage{}, nil
	}
	input, size := make([]string, len(texts)), 0
	for i, text := range texts {
		input[i] = prefix + text
		if size += len(input[i]); size > model.MaxRequestBytes {
			return nil, model.Usage{}, abi.Faultf(abi.TooLarge, "the texts exceed %d bytes", model.MaxRequestBytes)
		}
	}
	bounded, cancel := context.WithTimeout(ctx, e.provider.options.Timeout)
	defer cancel()
	request := openai.EmbeddingRequest{Input: input, Model: openai.EmbeddingModel(e.provider.options.Model)}
	response, err := e.provider.api("").CreateEmbeddings(bounded, request)
	if err != nil {
		return nil, model.Usage{}, e.provider.fault(ctx, err)
	}
	vectors, err := e.vectors(response.Data, len(texts))
	return vectors, usageOf(response.Usage), err
}

// normalize scales a vector to unit length. The result is false if all numbers of the vector are
// zero, or if one of the numbers is not finite. A vector of zeros and a vector with such a number
// have no direction.
func normalize(vector []float32) bool {
	squares := 0.0
	for _, x := range vector {
		squares += float64(x) * float64(x)
	}
	length := math.Sqrt(squares)
	if !(length > 0) || math.IsInf(length, 0) {
		return false
	}
	for i, x := range vector {
		vector[i] = float32(float64(x) / length)
	}
	return true
}

// vectors returns the vectors in the order of their texts.
func (e *embedder) vectors(data []openai.Embedding, count int) ([][]float32, error) {
	if len(data) != count {
		return nil, abi.Faultf(abi.Unavailable, "the model's provider sent %d vectors for %d texts", len(data), count)
	}
	vectors := make([][]float32, count)
	for _, d := range data {
		if d.Index < 0 || d.Index >= count || vectors[d.Index] != nil {
			return nil, abi.Faultf(abi.Unavailable, "the model's provider sent vectors with wrong indexes")
		}
		if len(d.Embedding) != e.options.Dim {
			return nil, abi.Faultf(abi.Unavailable, "the model's provider sent a vector of %d dimensions; expected %d", len(d.Embedding), e.options.Dim)
		}
		if !normalize(d.Embedding) {
			return nil, abi.Faultf(abi.Unavailable, "the model's provider sent a vector that contains only zeros")
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}
