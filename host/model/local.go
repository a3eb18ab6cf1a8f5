package model

import (
	"context"

	"github.com/toolrun/toolrun/host/model/lexical"
)

// A LocalEmbedder is an Embedder that computes vectors within the process. The time for a vector is
// limited. A LocalEmbedder uses no network and no tokens. The LocalEmbedder never returns an error.
type LocalEmbedder interface {
	Embedder
	// Vectors returns a vector of unit length for each text.
	Vectors(texts []string) [][]float32
}

// Lexical returns the embedder "lexical"; see package lexical.
func Lexical() LocalEmbedder { return lexicalEmbedder{} }

type lexicalEmbedder struct{}

func (lexicalEmbedder) ID() string { return lexical.ID }

func (lexicalEmbedder) Dim() int { return lexical.Dim }

func (lexicalEmbedder) MaxTexts() int { return maxBatch }

func (lexicalEmbedder) Vectors(texts []string) [][]float32 { return lexical.Vectors(texts) }

func (lexicalEmbedder) Embed(_ context.Context, texts []string, _ Purpose) ([][]float32, Usage, error) {
	return lexical.Vectors(texts), Usage{}, nil
}
