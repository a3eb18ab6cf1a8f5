package memory

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// routedPartition is the partition that one call uses in a store with declare.ScopeByItem. The item
// of a record determines who shares the record and which grant applies.
type routedPartition struct {
	view  *View
	store *store
	// verb is the verb of the call.
	verb abi.Verb
}

var _ kind.ScopedPartition = routedPartition{}

// routedScopes contains all scopes of a store with declare.ScopeByItem.
var routedScopes = [...]declare.Scope{declare.ScopeUser, declare.ScopeWorkflow, declare.ScopeApplication}

// The method "at" returns the partition of a record. If the call cannot use the record, the method
// returns a fault.
func (p routedPartition) at(item string) (*storePartition, error) {
	if err := checkPath(item); err != nil {
		return nil, err
	}
	if err := p.view.authority.checkItem(p.store.Name, item, p.verb); err != nil {
		return nil, err
	}
	return p.within(p.store.scopeOfItem(item), strconv.Quote(item))
}

// within returns the partition that contains the caller's records with a given scope. The argument
// "what" is the description of the records in faults.
func (p routedPartition) within(scope declare.Scope, what string) (*storePartition, error) {
	v := p.view
	key, err := p.store.scopedKey(v.s.app.Group(v.caller), scope, v.caller, what, v.authority.holder())
	if err != nil {
		return nil, err
	}
	return v.partition(p.store, scope, key), nil
}

// Check implements kind.ScopedPartition.
func (p routedPartition) Check(item string) error {
	_, err := p.at(item)
	return err
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

// Scan implements kind.Partition.
func (p routedPartition) Scan(ctx context.Context, after string, limit int) ([]storage.Record, error) {
	var found []storage.Record
	err := p.Each(ctx, "", after, func(r storage.Record) bool {
		found = append(found, r)
		return len(found) < limit
	})
	return found, err
}

// checkPath returns a fault if an item is not a valid path of names. Empty names are not allowed,
// because pathParts drops empty names. With empty names, two different texts could identify the
// same record, and the range of a path could contain items outside of the path.
func checkPath(item string) error {
	if item == "" || strings.Contains("."+item+".", "..") {
		return abi.Faultf(abi.InvalidArgument, "the text %s is not a path of names separated by dots", kind.Quote(item))
	}
	return checkItem(item)
}

// pathParts splits a path into its names and returns them as parts of a key. Therefore all items
// below a path form one range of keys.
func pathParts(path string) []storage.Part {
	names := strings.Split(path, ".")
	parts := make([]storage.Part, len(names))
	for i, name := range names {
		parts[i] = storage.Part{Tag: storage.Item, Value: name}
	}
	return parts
}
