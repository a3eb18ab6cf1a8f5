package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// groupOf returns the group to which the records of a store belong. The apps of a tenant share one
// group for shared blocks. For any other store, the group is the group of the app. Blocks of agents
// are always in the group of the app.
func groupOf(s *Service, st *store, c partition.Caller) storage.Key {
	if st.Block.Shared {
		return partition.Shared.Group(c)
	}
	return s.app.Group(c)
}

// groups returns all groups that contain records of a store.
func groups(s *Service, st *store, c partition.Caller) []storage.Key {
	groups := []storage.Key{s.app.Group(c)}
	if st != nil && st.Block.Shared {
		groups = append(groups, partition.Shared.Group(c))
	}
	return groups
}

// scanShared visits the records of the app's shared blocks and passes them to the function "visit".
func scanShared(ctx context.Context, s *Service, c partition.Caller, visit func(*store, []storage.Record) error) error {
	for _, name := range s.names {
		st := s.stores[name]
		if !st.Block.Shared {
			continue
		}
		err := s.records.Scan(ctx, prefixOf(partition.Shared.Group(c), name), func(chunk []storage.Record) error { return visit(st, chunk) })
		if err != nil {
			return err
		}
	}
	return nil
}
