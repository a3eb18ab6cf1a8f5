package mem

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// Read implements storage.Backend.
func (b *Backend) Read(ctx context.Context, want []storage.Key, held storage.Held) ([]storage.Record, storage.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, storage.Position{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.Position{}, storage.ErrClosed
	}
	if err := b.history.Suspects(held, b.commits, nil).Check(b.same, b.sameRange); err != nil {
		return nil, storage.Position{}, err
	}
	found := make([]storage.Record, len(want))
	for i, k := range want {
		found[i] = b.recordUnder(k)
	}
	return found, storage.EndOf(b.commits), nil
}

// The method "same" reports whether the current record has the given version. The caller must hold
// the mutex.
func (b *Backend) same(v storage.Version) (bool, error) {
	if storage.IsFloor(v.Key) {
		return storage.VersionOf(v.Key, b.recordUnder(v.Key)) == v, nil
	}
	return storage.VersionOf(v.Key, b.records[v.Key]) == v, nil
}

// sameRange reports whether the current records in a range are equal to the observed records. The
// caller must hold the mutex.
func (b *Backend) sameRange(g storage.Range) (bool, error) {
	seen := g.Seen
	start, _ := slices.BinarySearch(b.sorted, max(g.Prefix, g.After))
	for _, k := range b.sorted[start:] {
		if k == g.After {
			continue
		}
		if !g.Contains(k) {
			break
		}
		if len(seen) == 0 || b.records[k].Version() != seen[0] {
			return false, nil
		}
		seen = seen[1:]
	}
	return len(seen) == 0, nil
}

// Usage implements storage.Backend.
func (b *Backend) Usage(ctx context.Context, accounts ...storage.Key) ([]storage.Usage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.ErrClosed
	}
	found := make([]storage.Usage, len(accounts))
	for i, account := range accounts {
		found[i] = b.usage[account]
	}
	return found, nil
}

// Changes implements storage.Backend.
func (b *Backend) Changes(ctx context.Context, prefix storage.Key, since storage.Position, limit int) ([]storage.Changed, storage.Position, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, storage.Position{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, storage.Position{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, storage.Position{}, storage.ErrClosed
	}
	return b.history.Changes(prefix, since, limit, b.commits)
}

// Ping implements storage.Backend.
func (b *Backend) Ping(ctx context.Context) error {
	_, _, err := b.Read(ctx, nil, storage.Held{})
	return err
}
