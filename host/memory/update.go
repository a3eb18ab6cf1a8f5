package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// errMissed is the error of a backend transaction in which a record is not the one that writes were made for.
var errMissed = errors.New("a record changed since it was read")

// maxMisses bounds how often an update of the host's own records is made again.
const maxMisses = 100

// update stores what fn makes of the records under keys, within the caller's quota. fn works on a snapshot
// outside of the backend's transaction, which only compares versions: what an update costs holds nobody up.
// If a record changed meanwhile fn is called again, from the second time on in the turn of the first key.
// What fn writes under other keys is written whatever lies there.
func (s *Service) update(ctx context.Context, c Caller, keys []storage.Key, fn func(now []storage.Record) ([]storage.Write, error)) error {
	unlock := func() {}
	defer func() { unlock() }()
	locked := false
	for range maxMisses {
		before, err := s.backend.Get(ctx, keys...)
		if err != nil {
			return err
		}
		writes, err := fn(before)
		if err != nil || len(writes) == 0 {
			return err
		}
		err = s.swap(ctx, c, keys, before, writes)
		if !errors.Is(err, errMissed) {
			return err
		}
		if locked {
			continue
		}
		free, err := s.db.Lock(ctx, keys[0])
		if err != nil {
			return err
		}
		unlock, locked = free, true
	}
	return errMissed
}

// swap stores writes if the records under keys are still those before. Where the quota is full it frees what
// has expired and tries once more.
func (s *Service) swap(ctx context.Context, c Caller, keys []storage.Key, before []storage.Record, writes []storage.Write) error {
	keys = keys[:len(keys):len(keys)]
	for _, w := range writes {
		if !slices.Contains(keys, w.Record.Key) {
			keys = append(keys, w.Record.Key)
		}
	}
	account, full := s.account(c), s.noRoom()
	try := func() error {
		return s.backend.Update(ctx, storage.Keys(append(keys, account.keys...)...), func(now []storage.Record) ([]storage.Write, error) {
			for i, r := range before {
				if !now[i].SameVersion(r) {
					return nil, errMissed
				}
			}
			held, err := decodeHoldings(now[len(keys):])
			if err != nil {
				return nil, err
			}
			var grown holdings
			for _, change := range changesOf(keys, now, writes) {
				grown.add(account, change)
			}
			if grown.app.Bytes > 0 && full != nil {
				return nil, full
			}
			return writes, s.overQuota(held, grown)
		})
	}
	err := try()
	if errors.Is(err, abi.QuotaExceeded) && s.reclaim(ctx, c) {
		err = try()
	}
	return err
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

// swapOne stores what fn makes of one record of the host's own. fn works outside of the backend's transaction.
func swapOne(ctx context.Context, backend storage.Backend, key storage.Key, fn func(now storage.Record) ([]storage.Write, error)) error {
	for range maxMisses {
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
				return nil, errMissed
			}
			return writes, nil
		})
		if !errors.Is(err, errMissed) {
			return err
		}
	}
	return errMissed
}
