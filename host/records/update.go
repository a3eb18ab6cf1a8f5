package records

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// ErrChanged is the error of an update if records have changed since the update read them.
var ErrChanged = errors.New("a record changed since it was read")

// MaxAttempts limits how many times an update of host records is tried.
const MaxAttempts = 100

// Update calls the function "fn" with the records under the given keys. If the quota of the caller
// allows the writes that the function returns, Update stores them. The function receives records of
// one snapshot. The function "fn" is called outside of the backend's transaction. The transaction
// only compares versions. Therefore a slow function does not delay other commits. If a record has
// changed since the snapshot, Update takes a new snapshot and calls the function again. During the
// second call and all later calls of the function, Update holds the fair lock of the first key. The
// function can also return writes to keys outside of the snapshot. The versions of records outside
// of the snapshot are not compared. If records change during each of MaxAttempts attempts, the
// error is ErrChanged.
func (db *DB) Update(ctx context.Context, c partition.Caller, keys []storage.Key, fn func(now []storage.Record) ([]storage.Write, error)) error {
	unlock := func() {}
	defer func() { unlock() }()
	locked := false
	for range MaxAttempts {
		before, err := db.Backend.Get(ctx, keys...)
		if err != nil {
			return err
		}
		writes, err := fn(before)
		if err != nil || len(writes) == 0 {
			return err
		}
		err = db.swap(ctx, c, keys, before, writes)
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if locked {
			continue
		}
		free, err := db.lock(ctx, keys[0])
		if err != nil {
			return err
		}
		unlock, locked = free, true
	}
	return ErrChanged
}

// swap stores writes. The method checks that the records on which the writes depend have not
// changed. If the quota is exhausted, the method removes expired records and tries once more.
func (db *DB) swap(ctx context.Context, c partition.Caller, keys []storage.Key, before []storage.Record, writes []storage.Write) error {
	keys = keys[:len(keys):len(keys)]
	for _, w := range writes {
		if !slices.Contains(keys, w.Record.Key) {
			keys = append(keys, w.Record.Key)
		}
	}
	quota, full := db.quota(c), storage.Space(db.Backend)
	try := func() error {
		on := storage.Footprint{Keys: keys, Budget: quota.Budget()}
		return db.SpaceFault(db.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
			for i, r := range before {
				if !now[i].SameVersion(r) {
					return nil, ErrChanged
				}
			}
			return writes, grows(full, keys, now, writes)
		}))
	}
	err := try()
	if errors.Is(err, abi.QuotaExceeded) && quota.Reclaim(ctx) {
		err = try()
	}
	return err
}

// The function grows returns the argument "full" if the writes increase the stored bytes of apps,
// and otherwise nil. The argument "full" is an error if the stored bytes must not increase, and
// otherwise nil.
func grows(full error, keys []storage.Key, now []storage.Record, writes []storage.Write) error {
	if full == nil {
		return nil
	}
	if growth := storage.GrowthOf(changesOf(keys, now, writes)); growth.AppBytes() <= 0 {
		return nil
	}
	return full
}

// changesOf combines each write with the record that it replaces. The argument "now" contains the
// current records.
func changesOf(keys []storage.Key, now []storage.Record, writes []storage.Write) []storage.Change {
	old := make(map[storage.Key]storage.Record, len(keys))
	for i, key := range keys {
		old[key] = now[i]
	}
	changes := make([]storage.Change, len(writes))
	for i, w := range writes {
		changes[i] = storage.Change{Old: storage.HeadOf(old[w.Record.Key]), Write: w}
	}
	return changes
}

// CheckSpace checks that a number of bytes can be stored. CheckSpace returns a fault if the quota
// of the caller or the backend has too little space. If the quota is exhausted, CheckSpace removes
// expired records and checks once more. CheckSpace reserves nothing.
func (db *DB) CheckSpace(ctx context.Context, c partition.Caller, bytes int64) error {
	if full := storage.Space(db.Backend); full != nil {
		return db.SpaceFault(full)
	}
	quota := db.quota(c)
	check := func() error {
		budget, growth := quota.Budget(), storage.Growth{}
		for _, account := range budget.Accounts() {
			growth.Add(account, storage.Usage{Bytes: bytes})
		}
		return db.SpaceFault(budget.Check(&growth, storage.HeldBy(ctx, db.Backend)))
	}
	err := check()
	if errors.Is(err, abi.QuotaExceeded) && quota.Reclaim(ctx) {
		err = check()
	}
	return err
}

// Swap changes one host record. Swap calls the function "fn" with the record and stores the writes
// that the function returns. Swap checks no quota. Swap calls the function outside of the backend's
// transaction. If the record has changed, Swap calls the function again. If the record changes
// during each of MaxAttempts attempts, the error is ErrChanged.
func Swap(ctx context.Context, backend storage.Backend, key storage.Key, fn func(now storage.Record) ([]storage.Write, error)) error {
	for range MaxAttempts {
		before, err := backend.Get(ctx, key)
		if err != nil {
			return err
		}
		writes, err := fn(before[0])
		if err != nil {
			return err
		}
		err = backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
			if !now[0].SameVersion(before[0]) {
				return nil, ErrChanged
			}
			return writes, nil
		})
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}
