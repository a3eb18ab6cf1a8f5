package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// maxSpaceFaults is the maximum number of faults that CheckSpaces returns.
const maxSpaceFaults = 100

// errSpaceFaults ends a check after it has found maxSpaceFaults faults.
var errSpaceFaults = errors.New("found enough collections")

// CheckSpaces checks whether the embedding models that are declared now have computed the vectors
// in the collections of a tenant. The function "space" returns the vector space of the embedding
// model with a given name. If the function returns false, the collections with this model are not
// checked. The result contains a fault for each collection that runs cannot use. The result
// contains at most maxSpaceFaults faults. The field Store of the fault is the name of the
// collection. The message contains the old and the new model.
func CheckSpaces(ctx context.Context, s *Service, tenant string, space func(embedding string) (kind.VectorSpace, bool)) ([]*abi.Fault, error) {
	var faults []*abi.Fault
	pins := s.app.System(partition.Embedding, partition.Caller{Tenant: tenant})
	err := s.records.Scan(ctx, pins, func(chunk []storage.Record) error {
		for _, r := range chunk {
			found, err := checkSpace(s, r, space)
			if err != nil {
				return err
			}
			if found == nil {
				continue
			}
			if faults = append(faults, found); len(faults) == maxSpaceFaults {
				return errSpaceFaults
			}
		}
		return nil
	})
	if errors.Is(err, errSpaceFaults) {
		err = nil
	}
	return faults, s.records.Fault("check the models of collections", err)
}

// checkSpace checks the collection to which a pin belongs. The result is nil if runs can use the
// collection.
func checkSpace(s *Service, r storage.Record, space func(embedding string) (kind.VectorSpace, bool)) (*abi.Fault, error) {
	st := lookup(s, r.Key.Part(storage.Item))
	if st == nil || st.Kind != declare.KindCollection {
		return nil, nil
	}
	is, known := space(st.Collection.WithDefaults().Embedding)
	if !known {
		return nil, nil
	}
	p, err := pinIn(r)
	if err != nil {
		return nil, err
	}
	if err := p.check(is, st.Name, true); err != nil {
		f := *abi.FaultOf(err)
		f.Store = st.Name
		return &f, nil
	}
	return nil, nil
}
