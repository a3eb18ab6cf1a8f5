package records

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// ErrChanged is the error of an update in which a record is not the one that the writes were made for.
var ErrChanged = errors.New("a record changed since it was read")

// MaxAttempts bounds how often an update of the host's own records is tried.
const MaxAttempts = 100

// Update stores what fn makes of the records under keys, within the caller's quota. fn works on a snapshot outside of the
// backend's transaction, which only compares versions: the cost of fn delays no other commit. If a record changed meanwhile
// fn is called again, from the second time on under the fair lock of the first key. What fn writes under other keys is
// written unconditionally. The error is ErrChanged if records kept changing.
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

// swap stores writes if the records under keys are still those before. If the quota is full it frees what has expired and
// tries once more.
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

// grows returns full, the reason why nothing may grow or nil, if writes add bytes to what apps hold.
func grows(full error, keys []storage.Key, now []storage.Record, writes []storage.Write) error {
	if full == nil {
		return nil
	}
	if growth := storage.GrowthOf(changesOf(keys, now, writes)); growth.AppBytes() <= 0 {
		return nil
	}
	return full
}

// changesOf pairs writes with the records that they replace; now holds those under keys.
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

// CheckSpace refuses so many bytes more of a caller than the quota or the backend has room for. If the quota is full it frees
// what has expired and looks once more. It reserves nothing.
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

// Swap stores what fn makes of one of the host's own records, outside of every quota. fn works outside of the backend's
// transaction and is called again if the record changed meanwhile. The error is ErrChanged if it kept changing.
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
