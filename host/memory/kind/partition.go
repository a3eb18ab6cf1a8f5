package kind

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Partition is the part of a store that a call can use, within the transaction of its run: the
// records of the caller's user or session, or those of the app. It is not safe for concurrent use,
// and is valid until the call returns.
//
// A record is named by its item. A kind with one record in each partition uses the item "". An
// error that is not an *abi.Fault usually ends the attempt: a kind returns it unchanged.
type Partition interface {
	// Now returns the time of the run.
	Now() time.Time
	// Get returns the record of an item, the zero Record if there is none, and adds it to the read
	// set. Expires is the end of the record, zero for never. A record that the host generates has
	// no creation time.
	Get(ctx context.Context, item string) (storage.Record, error)
	// Scan returns the first records after an item, up to limit, in the order of their keys, and
	// adds the range to the read set. Item returns the item of a record.
	Scan(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// Holds reports whether the record of an item is in the read set. A reply must not depend on
	// other records.
	Holds(item string) bool
	// CheckWrite returns the fault of a write that the retention of the store does not allow, or
	// nil. Apply checks it as well. A kind that reads before it writes calls CheckWrite first, so
	// that a refused write adds nothing to the read set.
	CheckWrite(ttl time.Duration) error
	// Apply applies an update to the record of an item and returns the record's expiry: after ttl,
	// or as the store declares if ttl is zero. It does not add the record to the read set.
	Apply(ctx context.Context, item string, ttl time.Duration, update Update) (expires time.Time, err error)
	// Delete removes the record of an item, if there is one.
	Delete(ctx context.Context, item string) error
}

// Update returns the new content of a record, given the present record, the zero Record if there is
// none. A nil content removes the record. Violations are those of a content that is stored
// nevertheless. An Update is pure and does not change its arguments: a commit calls it again if the
// record has changed. If locked is true, other commits wait for it; a slow update then returns an
// error, and is called again outside of the commit.
type Update func(old storage.Record, locked bool) (content []byte, violations []abi.Violation, err error)

// Item returns the item of a record.
func Item(r storage.Record) string { return r.Key.Part(storage.Item) }
