package kind

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Partition is the part of a store that a call may reach, within the transaction of its run: the records of the caller's
// user or session, or those of the app. It is used by one goroutine at a time, and only until the call returns.
//
// A record is named by its item. A kind with one record a partition uses the item "". An error that is not an *abi.Fault
// ends the attempt, unless memory decides otherwise: a kind returns it as it is.
type Partition interface {
	// Now returns the time of the run.
	Now() time.Time
	// Get returns the record of an item, the zero Record if there is none; the run then depends on it. Expires is when the
	// record will end, zero for never. A record that the host made for this read has no time of creation.
	Get(ctx context.Context, item string) (storage.Record, error)
	// Scan returns the first records after an item, up to limit, in the order of their keys; the run then depends on that
	// range. Item returns the item of each.
	Scan(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// Holds reports whether the run depends on the record of an item. What a reply reports of another record would make the
	// run depend on it.
	Holds(item string) bool
	// CheckWrite returns the fault of a write that the retention of the store does not allow, or nil. Apply checks it, too; a
	// kind that reads before it writes checks it first, so that a refused write depends on nothing.
	CheckWrite(ttl time.Duration) error
	// Apply applies an update to the record of an item and returns when it expires: after ttl, if that is not zero, or
	// else as the store declares. The run does not depend on the record by that.
	Apply(ctx context.Context, item string, ttl time.Duration, update Update) (expires time.Time, err error)
	// Delete removes the record of an item, if there is one.
	Delete(ctx context.Context, item string) error
}

// Update computes the content of a record from the record before, the zero Record if there is none. Content nil removes the
// record. Violations are what does not fit the declaration although it is stored. An update is pure, and changes nothing
// that it is given: a commit calls it again if the record has changed. If locked is true other commits wait for it; an
// update that would take long returns an error then, and is called again outside of the commit.
type Update func(old storage.Record, locked bool) (content []byte, violations []abi.Violation, err error)

// Item returns the item of a record.
func Item(r storage.Record) string { return r.Key.Part(storage.Item) }
