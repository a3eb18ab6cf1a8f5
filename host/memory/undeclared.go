package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// maxUndeclared is the maximum number of collections without a declaration in a tenant. Runs that
// create collections at the same time can exceed it slightly.
const maxUndeclared = 1000

// checkUndeclared returns a fault if the tenant has too many collections without a declaration to
// create another one.
func checkUndeclared(ctx context.Context, v *View, name string) error {
	prefix := v.s.app.Embedding(v.caller, "")
	if v.undeclared == nil {
		names, err := undeclaredNames(ctx, v.s, v.caller.Tenant)
		if err != nil {
			return err
		}
		n := len(names)
		v.undeclared = &n
	}
	made := 0
	v.tx.Writes(func(stored, next storage.Record) bool {
		if next.Key.HasPrefix(prefix) && !stored.Exists() {
			made++
		}
		return true
	})
	if *v.undeclared+made < maxUndeclared {
		return nil
	}
	f := abi.Faultf(abi.QuotaExceeded, "the app has %d collections without a declaration; the limit is %d", *v.undeclared+made, maxUndeclared)
	f.Store = name
	return f.WithHint("use the namespaces of one collection instead of many collections, or declare the collection in the app file")
}

// undeclaredNames returns the names of the collections without a declaration that have an embedder.
func undeclaredNames(ctx context.Context, s *Service, tenant string) ([]string, error) {
	var names []string
	err := s.records.ScanHeads(ctx, s.app.System(partition.Embedding, partition.Caller{Tenant: tenant}), func(chunk []storage.Head) error {
		for _, h := range chunk {
			if name := h.Key.Part(storage.Item); s.stores[name] == nil {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

// releaseUndeclared removes the records of the embedders of collections without a declaration and
// without entries. The names of such collections can contain data about users.
func releaseUndeclared(ctx context.Context, s *Service, tenant string) error {
	if !s.autoCollections {
		return nil
	}
	names, err := undeclaredNames(ctx, s, tenant)
	for _, name := range names {
		if err == nil {
			err = releaseEmbedder(ctx, s, tenant, name)
		}
	}
	return s.records.Fault("remove empty collections", err)
}

// releaseEmbedder removes the record of the embedder of a collection that has no entries, so that the
// next entry determines the embedder anew. If the collection has entries, it does nothing.
func releaseEmbedder(ctx context.Context, s *Service, tenant, name string) error {
	caller := partition.Caller{Tenant: tenant}
	keys, entries := []storage.Key{s.app.Embedding(caller, name), s.app.Reembed(caller, name)}, prefixOf(s.app.Group(caller), name)
	found, err := s.backend.Heads(ctx, entries, "", 1)
	if err != nil || len(found) > 0 {
		return err
	}
	none := storage.Held{Ranges: []storage.Range{storage.RangeOf(entries, "", 1, nil)}}
	err = s.backend.Update(ctx, storage.Footprint{Keys: keys, Held: none}, func(now []storage.Record) (writes []storage.Write, err error) {
		for i, r := range now {
			if r.Exists() {
				writes = append(writes, storage.Write{Record: storage.Record{Key: keys[i]}, Delete: true})
			}
		}
		return writes, nil
	})
	if errors.Is(err, storage.ErrChanged) { // an entry was stored in the meantime
		return nil
	}
	return err
}
