package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// hooked is a backend whose operations a test can replace. The function "get" replaces Get and
// Read, and the function "update" replaces Update. If one of these functions is nil, its operations
// are not replaced.
type hooked struct {
	storage.Backend
	get    func(ctx context.Context, keys []storage.Key) ([]storage.Record, error)
	update func(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error
}

func (h *hooked) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	if h.get != nil {
		return h.get(ctx, keys)
	}
	return h.Backend.Get(ctx, keys...)
}

// Read returns only the requested records.
func (h *hooked) Read(ctx context.Context, want []storage.Key, known storage.Held) ([]storage.Record, storage.Position, error) {
	if h.get == nil {
		return h.Backend.Read(ctx, want, known)
	}
	found, err := h.get(ctx, want)
	if err != nil {
		return nil, storage.Position{}, err
	}
	_, at, err := h.Backend.Read(ctx, nil, known)
	return found, at, err
}

func (h *hooked) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if h.update != nil {
		return h.update(ctx, on, fn)
	}
	return h.Backend.Update(ctx, on, fn)
}

func hook(t *testing.T) (*app, *hooked) {
	h := &hooked{}
	a := newApp(t, func(cfg *memory.Config) {
		h.Backend = cfg.Backend
		cfg.Backend = h
	})
	return a, h
}

// A commit can store a run although the deadline ends before the reply. After such a timeout, the
// host must look up whether the run was stored.
func TestTimedOutCommitIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, h := hook(t)
		h.update = func(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
			if err := h.Backend.Update(ctx, on, fn); err != nil {
				return err
			}
			<-ctx.Done()
			return txntest.ErrLost
		}
		h.get = func(ctx context.Context, keys []storage.Key) ([]storage.Record, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return h.Backend.Get(ctx, keys...)
		}
		_, err := a.do(partition.Caller{Tenant: "acme", User: "ann", Run: "slow"}, abi.SetContent, `"notes"`, `{"a":1}`)
		if err != nil {
			t.Errorf("Transact = %v; want success, because the run was stored", err)
		}
	})
}

// If a deadline inside the backend is exceeded, the run gets an error of the backend but does not
// end.
func TestBackendDeadlineDoesNotEndRun(t *testing.T) {
	a, h := hook(t)
	_, err := a.transact(partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, func(ctx context.Context, v *memory.View) error {
		h.get = func(context.Context, []storage.Key) ([]storage.Record, error) { return nil, context.DeadlineExceeded }
		if _, err := v.Call(ctx, call(abi.GetContent, `"notes"`)); !errors.Is(err, abi.Unavailable) {
			t.Errorf("get_content = %v; want unavailable", err)
		}
		h.get = nil
		mustCall(t, ctx, v, abi.SetContent, `"flags"`, `{"a":1}`)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	a.want(ann, `"flags"`, `{"a":1}`)
}

// If the user of a run is erased, the run is not executed again, because the input of the run can
// contain data of the user.
func TestNoAttemptAfterErasure(t *testing.T) {
	a := newApp(t)
	c := partition.Caller{Tenant: "acme", User: "ann", Run: "r"}
	a.must(c, abi.SetContent, `"notes"`, `{"a":1}`)
	executions := 0
	_, err := a.transact(c, func(ctx context.Context, v *memory.View) error {
		executions++
		mustCall(t, ctx, v, abi.GetContent, `"notes"`)
		if executions == 1 {
			if _, err := a.Erase(context.Background(), c); err != nil {
				t.Error(err)
			}
		}
		_, err := v.Call(ctx, call(abi.SetContent, `"daily"`, `{"a":1}`))
		return err
	})
	if !errors.Is(err, abi.Cancelled) || executions != 1 {
		t.Errorf("Transact = %v after %d executions; want cancelled after 1", err, executions)
	}
	a.want(c, `"daily"`, "null")
}

// The mark of an erasure expires. If the mark of an earlier erasure expires during a run, the run
// succeeds. If a second erasure happens during a run, the run fails.
func TestErasureMarkExpires(t *testing.T) {
	for name, again := range map[string]bool{"swept": false, "swept and erased again": true} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t)
			c := partition.Caller{Tenant: "acme", User: "ann", Run: "r"}
			erase := func() {
				if _, err := a.Erase(context.Background(), c); err != nil {
					t.Error(err)
				}
			}
			erase()
			a.clock.Advance(26 * time.Hour)
			_, err := a.transact(c, func(ctx context.Context, v *memory.View) error {
				mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":1}`)
				if n, err := a.Sweep(context.Background(), "acme", 10); err != nil || n == 0 {
					t.Errorf("Sweep = %d, %v; want the mark removed", n, err)
				}
				if again {
					erase()
				}
				return nil
			})
			if again != errors.Is(err, abi.Cancelled) || !again && err != nil {
				t.Errorf("Transact = %v; erased during the run: %t", err, again)
			}
		})
	}
}

// An anonymous run stores nothing in its session if the session was bound to a user during the run.
func TestSessionBoundDuringRun(t *testing.T) {
	a := newApp(t)
	_, err := a.transact(partition.Caller{Tenant: "acme", Session: "s1", Run: "r"}, func(ctx context.Context, v *memory.View) error {
		mustCall(t, ctx, v, abi.SetContent, `"cart"`, `{"a":1}`)
		if _, err := a.Sessions().Start(ctx, ann, session.Start{}); err != nil {
			t.Error(err)
		}
		return nil
	})
	if !errors.Is(err, abi.AccessDenied) {
		t.Errorf("Transact = %v; want access_denied", err)
	}
	a.want(ann, `"cart"`, "null")
}

// The clock of the sweeper can be ahead of the clock of a host that uses a session. Therefore, a
// transaction that ends a session checks once more whether the session has expired.
func TestSessionUsedAgainIsNotSwept(t *testing.T) {
	a, h := hook(t)
	ctx := context.Background()
	a.must(ann, abi.SetContent, `"cart"`, `{"a":1}`)
	behind := newClock()
	other, err := memory.New(memory.Config{App: "shop", Backend: h, Stores: stores(), Now: behind.Now})
	if err != nil {
		t.Fatal(err)
	}
	a.clock.Advance(29 * time.Hour)
	behind.Advance(26 * time.Hour)
	used := false
	h.update = func(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
		if !used { // after the sweeper's read, before its transaction
			used = true
			if _, err := other.Sessions().Start(ctx, ann, session.Start{}); err != nil {
				t.Error(err)
			}
		}
		return h.Backend.Update(ctx, on, fn)
	}
	if _, err := a.Sweep(ctx, "acme", 10); err != nil || !used {
		t.Errorf("Sweep = %v; it tried to end the session: %t", err, used)
	}
	if s, err := other.Sessions().Get(ctx, ann); err != nil || s.Ended != nil {
		t.Errorf("the session = %+v, %v; want it open", s, err)
	}
	if got, _, err := other.Do(ctx, ann, memory.Operator(), call(abi.GetContent, `"cart"`)); err != nil || string(got) != `{"a":1}` {
		t.Errorf("get_content of the session's cart = %s, %v", got, err)
	}
}
