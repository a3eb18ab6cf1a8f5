package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// maxUndeclared is the maximum number of undeclared collections in a tenant. maxUndeclaredOfUser is
// the maximum number that the runs of one user can create. If runs create collections concurrently,
// the tenant can slightly exceed the maximum numbers.
const (
	maxUndeclared       = 1000
	maxUndeclaredOfUser = 100
)

// undeclaredCounts contains two numbers: the number of all undeclared collections, and the number
// that the runs of one user have created.
type undeclaredCounts struct{ all, own int }

// checkUndeclared returns a fault if the tenant or the user already has the maximum number of
// undeclared collections.
func checkUndeclared(ctx context.Context, v *View, name string) error {
	prefix, maker := v.s.app.Embedding(v.caller, ""), makerOf(v.s.app, v.caller)
	if v.undeclared == nil {
		n, err := countUndeclared(ctx, v.s, v.caller, maker)
		if err != nil {
			return err
		}
		v.undeclared = &n
	}
	now := *v.undeclared
	v.tx.Writes(func(stored, next storage.Record) bool {
		if next.Key.HasPrefix(prefix) && !stored.Exists() {
			now.all++
			now.own++
		}
		return true
	})
	holder, n, limit := "the app", now.all, maxUndeclared
	if now.all < maxUndeclared {
		holder, n, limit = "the user", now.own, maxUndeclaredOfUser
	}
	if n < limit || now.all < maxUndeclared && maker == "" {
		return nil
	}
	f := abi.Faultf(abi.QuotaExceeded, "%s has %d collections without a declaration; the limit is %d", holder, n, limit)
	f.Store = name
	return f.WithHint("use the namespaces of one collection instead of many collections, or declare the collection in the app file")
}

// makerOf returns the maker of a collection that a user's run creates. The maker is a digest of the
// user. Without a user, the maker is "". If the user is erased, the erasure removes the digest; see
// forgetMaker.
func makerOf(app partition.App, c partition.Caller) string {
	if c.User == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(app.Embedding(c, c.User)))
	return hex.EncodeToString(sum[:8])
}

// countUndeclared counts the undeclared collections that have an embedder.
func countUndeclared(ctx context.Context, s *Service, c partition.Caller, maker string) (n undeclaredCounts, err error) {
	err = s.records.Scan(ctx, s.app.System(partition.Embedding, partition.Caller{Tenant: c.Tenant}), func(chunk []storage.Record) error {
		for _, r := range chunk {
			p, err := pinIn(r)
			if err != nil {
				return err
			}
			if s.stores[r.Key.Part(storage.Item)] != nil {
				continue
			}
			n.all++
			if p.Maker == maker {
				n.own++
			}
		}
		return nil
	})
	return n, err
}

// forgetMaker removes the maker from the record of each collection that the caller's user has
// created. The record itself remains, because other users can have entries in the collection.
func forgetMaker(ctx context.Context, s *Service, c partition.Caller) error {
	maker := makerOf(s.app, c)
	if maker == "" {
		return nil
	}
	return s.records.Scan(ctx, s.app.System(partition.Embedding, partition.Caller{Tenant: c.Tenant}), func(chunk []storage.Record) error {
		for _, r := range chunk {
			if p, err := pinIn(r); err != nil || p.Maker != maker {
				continue // a damaged record has no maker
			}
			if err := records.Swap(ctx, s.backend, r.Key, withoutMaker); err != nil {
				return err
			}
		}
		return nil
	})
}

// withoutMaker returns a write that removes the maker from the record of a collection.
func withoutMaker(now storage.Record) ([]storage.Write, error) {
	if !now.Exists() {
		return nil, nil
	}
	p, err := pinIn(now)
	if err != nil {
		return nil, err
	}
	p.Maker = ""
	now.Content, err = json.Marshal(p)
	now.Revision++
	return []storage.Write{{Record: now}}, err
}

// undeclaredNames returns the names of the undeclared collections that have an embedder.
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

// releaseUndeclared removes the record of the embedder for each undeclared collection that has no
// entries. Such a record must not remain, because the name of a collection can contain data about
// users.
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

// releaseEmbedder removes the record of a collection's embedder if the collection has no entries.
// The next entry then determines the embedder of the collection. releaseEmbedder also removes the
// record about a move to another embedder. If the collection has entries, releaseEmbedder does
// nothing.
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
	if errors.Is(err, storage.ErrChanged) { // another run stored an entry after the check
		return nil
	}
	return err
}
