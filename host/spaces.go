package host

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/model"
)

// CheckEmbeddings checks that the vectors in the collections of a tenant are from the embedding
// models that are configured now. The result contains a fault for each collection that runs cannot
// use, but at most 100 faults. The field Store of a fault is the collection, the message contains
// both models, and the hint contains the command that moves the entries. CheckEmbeddings does not
// check collections whose model is not configured.
func CheckEmbeddings(ctx context.Context, s *memory.Service, models *model.Set, tenant string) ([]*abi.Fault, error) {
	return memory.CheckSpaces(ctx, s, tenant, func(name string) (kind.VectorSpace, bool) {
		embedder, _, err := models.Embedder(tenant, name)
		if err != nil {
			return kind.VectorSpace{}, false
		}
		return kind.VectorSpace{Embedder: embedder.ID(), Dim: embedder.Dim()}, true
	})
}
