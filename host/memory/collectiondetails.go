package memory

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// CollectionDetails describes the declaration of a collection, and the entries that one tenant has
// in the collection.
type CollectionDetails struct {
	CollectionInfo
	Access    string `json:"access"`
	Retention string `json:"retention,omitempty"`
	Language  string `json:"language,omitempty"`
	// Erase is the rule that applies when a user is erased. Unless Access is "application", Erase
	// is "".
	Erase string `json:"erase,omitempty"`
	// Embedding is the name of the declared embedding model.
	Embedding string `json:"embedding"`
	// Entries is the number of live entries. Bytes is the size of the contents and vectors of these
	// entries. Namespaces is the number of namespaces. Namespaces of different owners count
	// separately, even if they have the same name.
	Entries    int   `json:"entries"`
	Bytes      int64 `json:"bytes"`
	Namespaces int   `json:"namespaces"`
	// More is true if the collection also has entries that were not counted.
	More bool `json:"more,omitempty"`
}

// maxCounted is the maximum number of entries that DescribeCollections counts.
const maxCounted = 200_000

// errCounted ends the scan of a collection when the maximum number of entries has been counted.
var errCounted = errors.New("counted enough entries")

// DescribeCollections works like ListCollections, but returns details. If the argument "only" is
// the name of a collection, DescribeCollections returns only this collection. If the argument is
// "", DescribeCollections returns all collections. DescribeCollections counts at most 200,000
// entries.
func DescribeCollections(ctx context.Context, s *Service, tenant, only string) ([]CollectionDetails, error) {
	all, err := ListCollections(ctx, s, tenant)
	if err != nil {
		return nil, err
	}
	found, left := []CollectionDetails{}, maxCounted
	for _, info := range all {
		st := lookup(s, info.Name)
		if st == nil || st.Kind != declare.KindCollection || only != "" && only != info.Name {
			continue
		}
		details := detailsOf(st, info)
		if err := countEntries(ctx, s, partition.Caller{Tenant: tenant}, st, &details, &left); err != nil {
			return nil, s.records.Fault("list collections", err)
		}
		found = append(found, details)
	}
	if only != "" && len(found) == 0 {
		return nil, noCollection(only)
	}
	return found, nil
}

func detailsOf(st *store, info CollectionInfo) CollectionDetails {
	decl := st.Collection.WithDefaults()
	details := CollectionDetails{CollectionInfo: info, Access: string(st.Access), Retention: st.Retention.String(), Language: decl.Language, Embedding: decl.Embedding}
	if st.Access == declare.ScopeApplication {
		details.Erase = string(decl.Erase)
	}
	return details
}

// countEntries counts the live entries of a collection. The argument "left" is the number of
// entries that may still be counted.
func countEntries(ctx context.Context, s *Service, c partition.Caller, st *store, info *CollectionDetails, left *int) error {
	life, space := newLifetimes(s), storage.Key("")
	err := s.records.ScanHeads(ctx, prefixOf(s.app.Group(c), st.Name), func(chunk []storage.Head) error {
		for _, h := range chunk {
			if *left--; *left < 0 {
				return errCounted
			}
			visible, err := life.visible(ctx, st, h.Record)
			if err != nil {
				return err
			}
			if !visible {
				continue
			}
			info.Entries++
			info.Bytes += h.ContentBytes
			if of := cmp.Or(spaceOf(h.Key), h.Key); of != space {
				space = of
				info.Namespaces++
			}
		}
		return nil
	})
	if errors.Is(err, errCounted) {
		info.More = true
		return nil
	}
	return err
}

// spaceOf returns the key of the namespace of an entry.
func spaceOf(key storage.Key) storage.Key {
	item := storage.MakeKey(storage.Part{Tag: storage.Item, Value: key.Part(storage.Item)})
	return key[:len(key)-len(item)]
}
