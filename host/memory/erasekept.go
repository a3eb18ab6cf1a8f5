package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
)

// keptEntries counts the entries of each collection that an erasure of a user leaves unchanged.
// keptEntries counts at most maxCounted entries.
func keptEntries(ctx context.Context, s *Service, tenant string) (map[string]int, error) {
	kept, left := map[string]int{}, maxCounted
	for _, name := range s.names {
		st := s.stores[name]
		if st.Kind != declare.KindCollection || st.Access != declare.ScopeApplication || st.Collection.Erase != declare.EraseNever {
			continue
		}
		var counted CollectionDetails
		if err := countEntries(ctx, s, partition.Caller{Tenant: tenant}, st, &counted, &left); err != nil {
			return nil, err
		}
		if counted.Entries > 0 {
			kept[name] = counted.Entries
		}
	}
	return kept, nil
}
