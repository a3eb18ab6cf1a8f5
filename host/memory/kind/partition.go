package kind

import (
	"context"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Partition contains the records of a store that a call can access within the transaction of its
// run. These are the records of the user of the caller, of the session of the caller, or of the
// app. Partition is not safe for concurrent use, and is valid until the call returns. An item
// identifies a record within the partition. A kind with one record in each partition uses the item
// "". An error that is not an *abi.Fault usually ends the attempt. A kind must return this error
// unchanged.
type Partition interface {
	// Now returns the time of the run.
	Now() time.Time
	// Get returns the record of an item, or the zero Record if the record does not exist. Get adds
	// the record to the read set. The result "expires" is the time at which the record expires, or
	// the zero time if the record does not expire. A record that the host generates has no creation
	// time.
	Get(ctx context.Context, item string) (storage.Record, error)
	// Scan returns records that follow an item, in the order of their keys. Scan returns at most as
	// many records as the argument "limit". Scan adds the range to the read set. Item returns the
	// item of a record.
	Scan(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// Holds reports whether the record of an item is in the read set. A reply must not depend on a
	// record that is not in the read set.
	Holds(item string) bool
	// CheckWrite returns a fault if the retention of the store does not allow a write. Apply
	// performs the same check as CheckWrite. A kind that reads a record before it writes the record
	// should call CheckWrite before the read, so that a rejected write does not change the read
	// set.
	CheckWrite(ttl time.Duration) error
	// Apply applies an update to the record of an item and returns the expiry of the record. The
	// record expires after the duration ttl or, if ttl is zero, after the retention that the store
	// declares. Apply does not add the record to the read set.
	Apply(ctx context.Context, item string, ttl time.Duration, update Update) (expires time.Time, err error)
	// Delete removes the record of an item, if the record exists.
	Delete(ctx context.Context, item string) error
}

// Update returns the new content of a record. The argument is the current record or, if no record
// exists, the zero Record. If the returned content is nil, the record is removed. The result
// "violations" contains the schema violations of a content that is stored although it does not
// match the schema.
//
// An Update must be pure and must not modify its arguments, because a commit calls the Update again
// if the record has changed. If locked is true, other commits wait for the Update. In this case, an
// Update that takes long must return an error, and the host calls the Update again outside of the
// commit.
type Update func(old *storage.Record, locked bool) (content []byte, violations []abi.Violation, err error)

// Item returns the item of a record.
func Item(r storage.Record) string { return ItemOf(r.Key) }

// ItemOf returns the item in the key of a record. In a Scoped store, the item is a path, and each
// name in the path is a part of the key. For a record of an agent, the item is the id of the agent.
// For a record in a namespace, the item is the name of the namespace, a slash, and the name of the
// record in the namespace.
func ItemOf(key storage.Key) string {
	item := key.Part(storage.Item)
	if namespace := key.Part(storage.Namespace); namespace != "" {
		return namespace[1:] + "/" + item
	}
	if item == "" {
		return key.Part(storage.Agent)
	}
	if parts, err := key.Parts(); err == nil && len(parts) > 1 && parts[len(parts)-2].Tag == storage.Item {
		return joinItems(parts)
	}
	return item
}

// joinItems returns the path whose names are parts of a key.
func joinItems(parts []storage.Part) string {
	var names []string
	for _, p := range parts {
		if p.Tag == storage.Item {
			names = append(names, p.Value)
		}
	}
	return strings.Join(names, ".")
}

// ScopedPartition is the Partition of a Scoped store.
type ScopedPartition interface {
	Partition
	// Check returns a fault if the caller cannot use the record of an item. A kind calls Check
	// before it checks other arguments, so that a fault never contains data about a record that was
	// not granted.
	Check(item string) error
	// Each calls the function "visit" for the records in the scopes of the caller that the caller
	// can read, in the order of the keys, until visit returns false. If the argument "prefix" is
	// not "", Each visits only the item prefix, and the items that begin with prefix and a dot. If
	// the argument "after" is not "", Each visits only items that follow the item after. Each adds
	// the visited parts of the ranges to the read set, and no other records.
	Each(ctx context.Context, prefix, after string, visit func(storage.Record) (more bool)) error
}

// AgentPartition is a Partition of the records of a user. AgentPartition also gives access to the
// records of the user that belong to the agent of the caller.
type AgentPartition interface {
	Partition
	// ForAgent returns the partition of the active agent of the caller. ForAgent returns a fault if
	// no agent is active.
	ForAgent() (Partition, error)
}
