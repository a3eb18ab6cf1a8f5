package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// routedPartition is the partition of a store with declare.ScopeByItem, for one call. It determines
// the scope and checks the grant of each record by its item.
type routedPartition struct {
	view  *View
	store *store
	// verb is the verb of the call.
	verb abi.Verb
}

var _ kind.Partition = routedPartition{}

// routedScopes are the scopes that a store with declare.ScopeByItem can have.
var routedScopes = [...]declare.Scope{declare.ScopeUser, declare.ScopeSession, declare.ScopeApplication}

// at returns the partition of a record, if the call can use it.
func (p routedPartition) at(item string) (*storePartition, error) {
	if err := checkItem(item); err != nil {
		return nil, err
	}
	if err := p.view.authority.checkItem(p.store.Name, item, p.verb); err != nil {
		return nil, err
	}
	return p.within(p.store.scopeOfItem(item))
}

// within returns the partition of the caller's records with a scope.
func (p routedPartition) within(scope declare.Scope) (*storePartition, error) {
	v := p.view
	key, err := p.store.scopedKey(v.s.app.Group(v.caller), scope, v.caller, v.authority.holder())
	if err != nil {
		return nil, err
	}
	return v.partition(p.store, scope, key), nil
}

// Now implements kind.Partition.
func (p routedPartition) Now() time.Time { return p.view.Now() }

// Get implements kind.Partition.
func (p routedPartition) Get(ctx context.Context, item string) (storage.Record, error) {
	q, err := p.at(item)
	if err != nil {
		return storage.Record{}, err
	}
	return q.Get(ctx, item)
}

// Holds implements kind.Partition.
func (p routedPartition) Holds(item string) bool {
	q, err := p.at(item)
	return err == nil && q.Holds(item)
}

// CheckWrite implements kind.Partition. Apply checks the scope of the item.
func (p routedPartition) CheckWrite(ttl time.Duration) error { return p.store.checkTTL(ttl) }

// Apply implements kind.Partition.
func (p routedPartition) Apply(ctx context.Context, item string, ttl time.Duration, update kind.Update) (time.Time, error) {
	q, err := p.at(item)
	if err != nil {
		return time.Time{}, err
	}
	return q.Apply(ctx, item, ttl, update)
}

// Delete implements kind.Partition.
func (p routedPartition) Delete(ctx context.Context, item string) error {
	q, err := p.at(item)
	if err != nil {
		return err
	}
	return q.Delete(ctx, item)
}

// Scan implements kind.Partition. It merges the caller's scopes and omits records without a grant.
// It omits the records of a user or a session if the caller has none.
func (p routedPartition) Scan(ctx context.Context, after string, limit int) ([]storage.Record, error) {
	if err := checkItem(after); err != nil {
		return nil, err
	}
	var found []storage.Record
	for _, scope := range routedScopes {
		q, err := p.within(scope)
		if errors.Is(err, abi.NoUser) || errors.Is(err, abi.NoSession) {
			continue
		}
		if err != nil {
			return nil, err
		}
		records, err := p.scan(ctx, q, after, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, records...)
	}
	slices.SortFunc(found, func(a, b storage.Record) int {
		return strings.Compare(string(itemKey(kind.Item(a))), string(itemKey(kind.Item(b))))
	})
	return found[:min(limit, len(found))], nil
}

// itemKey returns the part of a key by which the records of a partition are sorted.
func itemKey(item string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.Item, Value: item})
}

// scan returns the first records of one scope that the call can use.
func (p routedPartition) scan(ctx context.Context, q *storePartition, after string, limit int) ([]storage.Record, error) {
	var found []storage.Record
	for {
		records, err := q.Scan(ctx, after, limit)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			after = kind.Item(r)
			if p.store.scopeOfItem(after) == q.scope && p.view.authority.checkItem(p.store.Name, after, p.verb) == nil {
				found = append(found, r)
			}
		}
		if len(found) >= limit || len(records) < limit {
			return found[:min(limit, len(found))], nil
		}
	}
}
