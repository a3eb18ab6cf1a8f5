package records

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// ErrChanged is the error of an update whose records changed after they were read.
var ErrChanged = errors.New("a record changed since it was read")

// MaxAttempts is the maximum number of times that an update of the host's own records is tried.
const MaxAttempts = 100

// Update calls fn with the records under some keys and stores the writes that fn returns, if they
// fit into the caller's quota. Update calls fn with a snapshot, outside of the backend's
// transaction. The transaction only compares versions, so that a slow fn does not delay other
// commits. If a record has changed since the snapshot, Update calls fn again. From the second call
// of fn on, Update holds the fair lock of the first key. Writes to keys outside of the snapshot are
// unconditional. The error is ErrChanged if the records changed during each of MaxAttempts
// attempts.
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

// swap stores some writes if the records that the writes depend on have not changed. If the quota
// is exhausted, swap removes expired records and tries once more.
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

// grows returns the argument "full" if the writes increase the stored bytes of apps. The caller
// passes an error as "full" if the stored bytes must not increase, and nil otherwise.
func grows(full error, keys []storage.Key, now []storage.Record, writes []storage.Write) error {
	if full == nil {
		return nil
	}
	if growth := storage.GrowthOf(changesOf(keys, now, writes)); growth.AppBytes() <= 0 {
		return nil
	}
	return full
}

// changesOf pairs writes with the records that the writes replace. The argument "now" contains the
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

// CheckSpace returns a fault if the quota of a caller or the backend has no space for a number of
// bytes. If the quota is exhausted, CheckSpace removes expired records and checks once more.
// CheckSpace reserves nothing.
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

// Swap stores the writes that fn returns for one of the host's own records. Swap checks no quota.
// Swap calls fn outside of the backend's transaction, and calls fn again if the record has changed.
// The error is ErrChanged if the record changed during each of MaxAttempts attempts.
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
