package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/host/storage"
)

var _ storage.Backend = (*Backend)(nil)

// Backend is a storage backend that stores records in memory, in key order. The contents of a
// Backend are lost when the process ends. Backend is safe for concurrent use.
type Backend struct {
	// writer is a channel that contains a token while an update is in progress. A mutex is not
	// suitable, because a caller must be able to stop waiting.
	writer chan struct{}

	mu      sync.RWMutex // protects the following fields; never locked during a call to fn
	closed  bool
	records map[storage.Key]storage.Record
	sorted  []storage.Key // the keys of records, sorted
	usage   map[storage.Key]storage.Usage
	floors  map[storage.Key]int64
	commits uint64 // the number of commits so far
	history *storage.History
}

// New returns an empty backend.
func New() *Backend {
	return &Backend{
		writer:  make(chan struct{}, 1),
		records: make(map[storage.Key]storage.Record),
		usage:   make(map[storage.Key]storage.Usage),
		floors:  make(map[storage.Key]int64),
		history: storage.NewHistory(0),
	}
}

// Get implements storage.Backend.
func (b *Backend) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	found := make([]storage.Record, len(keys))
	for i, k := range keys {
		found[i] = b.recordUnder(k)
	}
	return found, nil
}

// recordUnder returns the record under k. The caller must hold the mutex.
func (b *Backend) recordUnder(k storage.Key) storage.Record {
	if storage.IsFloor(k) && b.floors[k] > 0 {
		return storage.FloorRecord(k, b.floors[k])
	}
	return b.records[k].Clone()
}

// Scan implements storage.Backend.
func (b *Backend) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	return scan(ctx, b, prefix, after, limit, storage.Record.Clone)
}

// Heads implements storage.Backend.
func (b *Backend) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	return scan(ctx, b, prefix, after, limit, headOf)
}

// headOf returns the head of r as a copy that shares no memory with r.
func headOf(r storage.Record) storage.Head {
	h := storage.HeadOf(r)
	h.Tags = slices.Clone(h.Tags)
	return h
}

func scan[T any](ctx context.Context, b *Backend, prefix, after storage.Key, limit int, of func(storage.Record) T) ([]T, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	var found []T
	start, _ := slices.BinarySearch(b.sorted, max(prefix, after))
	for _, k := range b.sorted[start:] {
		if !k.HasPrefix(prefix) || len(found) == limit {
			break
		}
		if k > after {
			found = append(found, of(b.records[k]))
		}
	}
	return found, nil
}

// Update implements storage.Backend.
func (b *Backend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if err := b.begin(ctx); err != nil {
		return err
	}
	defer b.end()
	now, _, err := b.Read(context.WithoutCancel(ctx), on.Keys, on.Held)
	if err != nil {
		return err
	}
	changes, err := storage.ApplyUpdate(on.Keys, now, fn)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	growth := storage.GrowthOf(changes)
	held := func(account storage.Key) (storage.Usage, error) { return b.usage[account], nil }
	if err := on.Budget.Check(&growth, held); err != nil {
		return err
	}
	b.commit(changes, &growth)
	return nil
}

// ScanTag implements storage.Backend.
func (b *Backend) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) ([]storage.Head, error) {
	if err := what.CheckTag(limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	return b.matching(what, after, limit), nil
}

// DeleteWhere implements storage.Backend.
func (b *Backend) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	if err := what.Check(limit); err != nil {
		return nil, err
	}
	if err := b.begin(ctx); err != nil {
		return nil, err
	}
	defer b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	removed := b.matching(what, "", limit)
	changes := make([]storage.Change, len(removed))
	for i, h := range removed {
		changes[i] = storage.Removal(h)
	}
	growth := storage.GrowthOf(changes)
	b.commit(changes, &growth)
	return removed, nil
}

// matching returns the heads of the selected records whose keys are greater than the argument
// "after". The argument "limit" is the maximum number of heads. The caller must hold the mutex.
func (b *Backend) matching(what storage.Selector, after storage.Key, limit int) (found []storage.Head) {
	start, _ := slices.BinarySearch(b.sorted, max(what.Prefix, after))
	for _, k := range b.sorted[start:] {
		if len(found) == limit || !k.HasPrefix(what.Prefix) {
			break
		}
		if r := b.records[k]; k > after && what.Matches(r) {
			found = append(found, headOf(r))
		}
	}
	return found
}

// Close implements storage.Backend. If an update is in progress, Close waits until the update ends.
func (b *Backend) Close() error {
	b.writer <- struct{}{}
	defer b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.records, b.sorted, b.usage, b.floors = true, nil, nil, nil, nil
	return nil
}

// begin waits for the token of the channel "writer", or until ctx ends.
func (b *Backend) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case b.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Backend) end() { <-b.writer }

// commit applies changes. The caller must hold the writer token and the mutex.
func (b *Backend) commit(changes []storage.Change, growth *storage.Growth) {
	if len(changes) == 0 {
		return
	}
	b.commits++
	written := make([]storage.Changed, len(changes))
	for i, c := range changes {
		b.apply(c)
		written[i] = c.Changed()
	}
	for account, added := range growth.All() {
		if b.usage[account] = b.usage[account].Plus(added); b.usage[account] == (storage.Usage{}) {
			delete(b.usage, account)
		}
	}
	b.history.Add(b.commits, written)
}

// apply applies one change. The caller must hold the writer token and the mutex.
func (b *Backend) apply(c storage.Change) {
	k := c.Record.Key
	at, found := slices.BinarySearch(b.sorted, k)
	switch {
	case c.Delete:
		delete(b.records, k)
		b.sorted = slices.Delete(b.sorted, at, at+1)
	case found:
		b.records[k] = c.Record.Clone()
	default:
		b.records[k] = c.Record.Clone()
		b.sorted = slices.Insert(b.sorted, at, k)
	}
	if floor, revision := c.Floor(); floor != "" {
		b.floors[floor] = max(b.floors[floor], revision)
	}
}
