package model

import "context"

// A Purpose states how a vector is used. Some models compute different vectors for queries and for
// documents.
type Purpose string

// The purposes.
const (
	Query    Purpose = "query"
	Document Purpose = "document"
)

// Embedder is a model that converts texts to vectors. Implementations are safe for concurrent use.
type Embedder interface {
	// ID identifies the vector space of the embedder. Vectors of embedders with different IDs
	// cannot be compared.
	ID() string
	// Dim is the number of dimensions of a vector.
	Dim() int
	// MaxTexts is the maximum number of texts in one request.
	MaxTexts() int
	// Embed returns a vector of unit length for each text. The vectors have the order of the texts.
	// Embed retries after temporary errors until the deadline of ctx. The error is an *abi.Fault.
	// The usage is valid even if Embed rejects the answer, because the provider charges for the
	// request.
	Embed(ctx context.Context, texts []string, purpose Purpose) ([][]float32, Usage, error)
}
