package model

import "context"

// Purpose is the use of a vector. Some models embed queries and documents differently.
type Purpose string

// The purposes.
const (
	Query    Purpose = "query"
	Document Purpose = "document"
)

// Embedder is a model that converts texts to vectors. Implementations are safe for concurrent use.
type Embedder interface {
	// ID identifies the vector space. Vectors with different ids cannot be compared.
	ID() string
	// Dim is the number of dimensions.
	Dim() int
	// Embed returns a vector for each text, in the same order. The error is an *abi.Fault.
	Embed(ctx context.Context, texts []string, purpose Purpose) ([][]float32, Usage, error)
}
