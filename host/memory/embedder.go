package memory

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/model/lexical"
)

// lexicalEmbedder is the kind.Embedder of a Service without models. Its only model is
// declare.Lexical.
type lexicalEmbedder struct{}

var _ kind.Embedder = lexicalEmbedder{}

// Space implements kind.Embedder.
func (lexicalEmbedder) Space(name string) (id string, dim int, err error) {
	if name != declare.Lexical {
		return "", 0, abi.Faultf(abi.Unavailable, "no embedding model has the name %s", kind.Quote(name)).
			WithHint("ask the operator which models are configured, or use the embedding %s", declare.Lexical)
	}
	return lexical.ID, lexical.Dim, nil
}

// Embed implements kind.Embedder.
func (e lexicalEmbedder) Embed(_ context.Context, name string, texts []string, _ bool) ([][]float32, error) {
	if _, _, err := e.Space(name); err != nil {
		return nil, err
	}
	return lexical.Vectors(texts), nil
}
