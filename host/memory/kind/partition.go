package kind

import (
	"context"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// A Partition contains the part of a store's records that a call can access. The call uses the
// transaction of its run. A Partition contains records of the caller's user, of the caller's
// session, or of the app. A Partition is not safe for concurrent use. A Partition becomes invalid
// when the call returns. An item identifies one record of the partition. If each partition of a
// kind has only one record, the item is "". If a method returns an error that is not an *abi.Fault,
// the attempt usually ends. A kind must return such an error unchanged.
type Partition interface {
	// Now returns the time of the run.
	Now() time.Time
	// Get returns the record with a given item. If the record does not exist, Get returns the zero
	// Record. Get adds the record to the read set. The field Expires of the record is the time at
	// which the record expires. If the record does not expire, Expires is zero. If the host
	// generates a record, the record has no creation time.
	Get(ctx context.Context, item string) (storage.Record, error)
	// Scan returns records in the order of their keys. The result begins after the given item. Scan
	// returns at most "limit" records. Scan adds the range of the returned records to the read set.
	// Item returns the item of a record.
	Scan(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// Holds reports whether the record with a given item is in the read set. If a record is not in
	// the read set, a reply must not depend on the record.
	Holds(item string) bool
	// CheckWrite checks a write. CheckWrite returns a fault if the write violates the retention of
	// the store. Apply performs the same check as CheckWrite. If a kind reads a record and then
	// writes it, the kind should call CheckWrite before the read. A rejected write then leaves the
	// read set unchanged.
	CheckWrite(ttl time.Duration) error
	// Apply applies an update to the record with a given item. Apply returns the expiry of the
	// record. If ttl is not zero, the record expires after ttl. If ttl is zero, the record expires
	// after the declared retention of the store. Apply does not add the record to the read set.
	Apply(ctx context.Context, item string, ttl time.Duration, update Update) (expires time.Time, err error)
	// Delete removes the record with a given item if the record exists.
	Delete(ctx context.Context, item string) error
}

// An Update returns the new content of a record. The argument is the current record. If no record
// exists, the argument is the zero Record. If the returned content is nil, the update removes the
// record. A content can be stored although it does not match the schema. The result "violations"
// then contains the violations of the schema.
//
// An Update must be pure and must not modify its arguments. If the record has changed, the commit
// calls the Update again. If the argument "locked" is true, other commits wait for the Update. An
// Update that would take long must then return an error. After this error, the host calls the
// Update again outside of the commit.
type Update func(old *storage.Record, locked bool) (content []byte, violations []abi.Violation, err error)

// Item returns the item of a record.
func Item(r storage.Record) string { return ItemOf(r.Key) }

// ItemOf returns the item of a record. The key of the record contains the item. In a Scoped store,
// the item is a path, and each name in the path is a part of the key. If the record belongs to an
// agent, the item is the id of the agent. If the record belongs to a namespace, the item consists
// of the name of the namespace, a slash, and the name of the record within the namespace.
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

// joinItems returns a path. The names in the path are given as parts of a key.
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
	// Check returns a fault if the caller cannot use the record with a given item. A kind must call
	// Check before it checks other arguments. If Check were called later, a fault could contain
	// data about a record without a grant.
	Check(item string) error
	// Each calls the function "visit" for each record that the caller can read, in the order of the
	// keys. Each ends when the function returns false. The records belong to all scopes of the
	// caller. If the argument "prefix" is not "", Each visits only the item with this name and the
	// items that begin with this name and a dot. If the argument "after" is not "", Each visits
	// only the items that follow this item. Each adds the visited parts of the ranges to the read
	// set. Each adds no other records to the read set.
	Each(ctx context.Context, prefix, after string, visit func(storage.Record) (more bool)) error
}

// AgentPartition is a Partition that contains records of a user. In an AgentPartition, some records
// of the user belong to the active agent of the caller.
type AgentPartition interface {
	Partition
	// ForAgent returns the partition that belongs to the active agent of the caller. ForAgent
	// returns a fault if no agent is active.
	ForAgent() (Partition, error)
}
