package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/toolrun/toolrun/host/storage"
)

// Failure is a way in which an operation of a Faulty backend fails.
type Failure int

// The failures. For a read, LostReply and Unknown have the same meaning as NotApplied, because a
// read changes nothing.
const (
	NotApplied Failure = iota + 1 // the operation is not applied and returns a plain error
	LostReply                     // the operation is applied and returns an error that wraps ErrUnknownOutcome
	Unknown                       // the operation is not applied and returns an error that wraps ErrUnknownOutcome
	Dies                          // the operation is not applied, and all later operations fail
	DiesAfter                     // the operation is applied with an unknown outcome, and all later operations fail
)

// Failures lists all failures.
var Failures = []Failure{NotApplied, LostReply, Unknown, Dies, DiesAfter}

// String returns the name of the failure.
func (f Failure) String() string {
	names := []string{"NotApplied", "LostReply", "Unknown", "Dies", "DiesAfter"}
	if f < NotApplied || int(f) > len(names) {
		return fmt.Sprintf("Failure(%d)", int(f))
	}
	return names[f-1]
}

// The constants are the names of a backend's operations. Fail and Before use these names.
const (
	OpGet     = "get"
	OpScan    = "scan"
	OpUpdate  = "update"
	OpDelete  = "delete"
	OpChanges = "changes"
	OpPing    = "ping"
)

// ErrInjected is part of every error that a Faulty backend injects. The injected errors wrap
// ErrInjected.
var ErrInjected = errors.New("injected failure")

// Faulty is a backend that wraps another backend. The operations of Faulty fail as the method Fail
// specifies. Faulty is safe for concurrent use.
type Faulty struct {
	storage.Backend
	// Before is called in the caller's goroutine before each operation of the backend. Before can
	// be nil. The argument of Before is the name of the operation. Before may block to order the
	// operations of several goroutines. Before must be set before the backend is used.
	Before func(op string)

	mu    sync.Mutex
	calls map[string]int
	plan  []planned
	dead  bool
}

type planned struct {
	op   string
	call int // the number of the call that fails
	how  Failure
}

// NewFaulty returns a backend that behaves like b until Fail is called.
func NewFaulty(b storage.Backend) *Faulty {
	return &Faulty{Backend: b, calls: make(map[string]int)}
}

// Fail makes the n-th future call to an operation fail. The first call after the call to Fail has
// the number 1. If the argument "op" is "", the calls to all operations count.
func (f *Faulty) Fail(op string, n int, how Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = append(f.plan, planned{op: op, call: f.calls[op] + n, how: how})
}

// Calls returns the number of calls to an operation, or to all operations if op is "".
func (f *Faulty) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// Revive makes a dead backend work again with the same records. Revive cancels all planned
// failures.
func (f *Faulty) Revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead, f.plan = false, nil
}

// Get implements storage.Backend.
func (f *Faulty) Get(ctx context.Context, keys ...storage.Key) (found []storage.Record, err error) {
	err = f.do(OpGet, func() error {
		found, err = f.Backend.Get(ctx, keys...)
		return err
	})
	return found, err
}

// Read implements storage.Backend. Read counts as a call to OpGet.
func (f *Faulty) Read(ctx context.Context, want []storage.Key, held storage.Held) (found []storage.Record, at storage.Position, err error) {
	err = f.do(OpGet, func() error {
		found, at, err = f.Backend.Read(ctx, want, held)
		return err
	})
	return found, at, err
}

// Usage implements storage.Backend. Usage counts as a call to OpGet.
func (f *Faulty) Usage(ctx context.Context, accounts ...storage.Key) (found []storage.Usage, err error) {
	err = f.do(OpGet, func() error {
		found, err = f.Backend.Usage(ctx, accounts...)
		return err
	})
	return found, err
}

// Changes implements storage.Backend.
func (f *Faulty) Changes(ctx context.Context, prefix storage.Key, since storage.Position, limit int) (found []storage.Changed, next storage.Position, err error) {
	err = f.do(OpChanges, func() error {
		found, next, err = f.Backend.Changes(ctx, prefix, since, limit)
		return err
	})
	return found, next, err
}

// Ping implements storage.Backend.
func (f *Faulty) Ping(ctx context.Context) error {
	return f.do(OpPing, func() error { return f.Backend.Ping(ctx) })
}

// Scan implements storage.Backend.
func (f *Faulty) Scan(ctx context.Context, prefix, after storage.Key, limit int) (found []storage.Record, err error) {
	err = f.do(OpScan, func() error {
		found, err = f.Backend.Scan(ctx, prefix, after, limit)
		return err
	})
	return found, err
}

// Heads implements storage.Backend. Heads counts as a call to OpScan.
func (f *Faulty) Heads(ctx context.Context, prefix, after storage.Key, limit int) (found []storage.Head, err error) {
	err = f.do(OpScan, func() error {
		found, err = f.Backend.Heads(ctx, prefix, after, limit)
		return err
	})
	return found, err
}

// Update implements storage.Backend.
func (f *Faulty) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	return f.do(OpUpdate, func() error { return f.Backend.Update(ctx, on, fn) })
}

// ScanTag implements storage.Backend. ScanTag counts as a call to OpScan.
func (f *Faulty) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) (found []storage.Head, err error) {
	err = f.do(OpScan, func() error {
		found, err = f.Backend.ScanTag(ctx, what, after, limit)
		return err
	})
	return found, err
}

// DeleteWhere implements storage.Backend.
func (f *Faulty) DeleteWhere(ctx context.Context, what storage.Selector, limit int) (removed []storage.Head, err error) {
	err = f.do(OpDelete, func() error {
		removed, err = f.Backend.DeleteWhere(ctx, what, limit)
		return err
	})
	return removed, err
}

// Space implements storage.Spacer. Space returns the result of the wrapped backend.
func (f *Faulty) Space() error { return storage.Space(f.Backend) }

// The method "do" executes an operation, injects its planned failure, or does both.
func (f *Faulty) do(op string, call func() error) error {
	if f.Before != nil {
		f.Before(op)
	}
	how, dead := f.next(op)
	if dead {
		return fmt.Errorf("%s: %w: the backend is dead", op, ErrInjected)
	}
	read := op == OpGet || op == OpScan || op == OpChanges || op == OpPing
	if (how == LostReply || how == DiesAfter) && !read {
		if err := call(); err != nil {
			return err // after a real failure, no failure is injected
		}
	}
	switch {
	case how == 0:
		return call()
	case read, how == NotApplied, how == Dies:
		return fmt.Errorf("%s: %w", op, ErrInjected)
	default:
		return fmt.Errorf("%s: %w: %w", op, ErrInjected, storage.ErrUnknownOutcome)
	}
}

// The method "next" counts a call to an operation and returns the planned failure of the call, or
// 0.
func (f *Faulty) next(op string) (how Failure, dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return 0, true
	}
	f.calls[op]++
	f.calls[""]++
	for _, p := range f.plan {
		if (p.op == op || p.op == "") && f.calls[p.op] == p.call {
			how = p.how
		}
	}
	f.dead = how == Dies || how == DiesAfter
	return how, false
}
