package txntest

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/storage"
)

var _ storage.Backend = (*Scheduler)(nil)

// Get implements storage.Backend.
func (s *Scheduler) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	taskOf(ctx).Yield()
	return s.Backend.Get(ctx, keys...)
}

// Read implements storage.Backend.
func (s *Scheduler) Read(ctx context.Context, want []storage.Key, held storage.Held) ([]storage.Record, storage.Position, error) {
	t := taskOf(ctx)
	t.Yield()
	records, at, err := s.Backend.Read(ctx, want, held)
	if err == nil && t != nil && t.OnRead != nil {
		t.OnRead(want, records)
	}
	return records, at, err
}

// Scan implements storage.Backend.
func (s *Scheduler) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	taskOf(ctx).Yield()
	return s.Backend.Scan(ctx, prefix, after, limit)
}

// Heads implements storage.Backend.
func (s *Scheduler) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	taskOf(ctx).Yield()
	return s.Backend.Heads(ctx, prefix, after, limit)
}

// Usage implements storage.Backend.
func (s *Scheduler) Usage(ctx context.Context, accounts ...storage.Key) ([]storage.Usage, error) {
	taskOf(ctx).Yield()
	return s.Backend.Usage(ctx, accounts...)
}

// ScanTag implements storage.Backend.
func (s *Scheduler) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) ([]storage.Head, error) {
	taskOf(ctx).Yield()
	return s.Backend.ScanTag(ctx, what, after, limit)
}

// DeleteWhere implements storage.Backend.
func (s *Scheduler) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	t := taskOf(ctx)
	t.Yield()
	if t != nil && t.OnDelete != nil {
		t.OnDelete(what)
	}
	return s.Backend.DeleteWhere(ctx, what, limit)
}

// Update implements storage.Backend. A task also pauses after its update has been applied and
// before the task gets the reply.
func (s *Scheduler) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	t := taskOf(ctx)
	if t == nil {
		return s.Backend.Update(ctx, on, fn)
	}
	t.Yield()
	u := update{fault: t.Fault}
	t.Fault = NoFault
	err := s.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) { return u.decide(fn, now) })
	if err == nil && t.OnUpdate != nil {
		t.OnUpdate(u.found, u.writes)
	}
	t.Yield()
	if err == nil && u.fault == ReplyLost {
		err = ErrLost
	}
	if errors.Is(err, ErrLost) {
		t.lost = s.step
	}
	return err
}

// update is one call to Update by a task.
type update struct {
	fault  Fault
	found  []storage.Head
	writes []storage.Write
}

// decide calls fn and records the arguments and results.
func (u *update) decide(fn func([]storage.Record) ([]storage.Write, error), now []storage.Record) (writes []storage.Write, err error) {
	if u.writes, err = fn(now); err != nil {
		return nil, err
	}
	if u.fault == RequestLost {
		return nil, ErrLost
	}
	u.found = nil
	for _, r := range now {
		u.found = append(u.found, storage.HeadOf(r))
	}
	return u.writes, nil
}
