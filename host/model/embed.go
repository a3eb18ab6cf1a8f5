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
	// MaxTexts is the maximum number of texts of a request.
	MaxTexts() int
	// Embed returns a vector of unit length for each text, in the same order. Temporary errors are retried within the
	// deadline of ctx. The error is an *abi.Fault. The usage is valid even if the answer is rejected,
	// because the provider charges for the request.
	Embed(ctx context.Context, texts []string, purpose Purpose) ([][]float32, Usage, error)
}
