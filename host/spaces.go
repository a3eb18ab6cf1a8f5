package host

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/model"
)

// CheckEmbeddings checks the collections of a tenant. The vectors of each collection must be from
// the embedding model that is configured now. If runs cannot use a collection, the result contains
// a fault for this collection. The result contains at most 100 faults. The field Store of a fault
// is the name of the collection. The message names both embedding models, and the hint contains the
// command that moves the entries. If the model of a collection is not configured, CheckEmbeddings
// does not check this collection.
func CheckEmbeddings(ctx context.Context, s *memory.Service, models *model.Set, tenant string) ([]*abi.Fault, error) {
	return memory.CheckSpaces(ctx, s, tenant, func(name string) (kind.VectorSpace, bool) {
		embedder, _, err := models.Embedder(tenant, name)
		if err != nil {
			return kind.VectorSpace{}, false
		}
		return kind.VectorSpace{Embedder: embedder.ID(), Dim: embedder.Dim()}, true
	})
}
