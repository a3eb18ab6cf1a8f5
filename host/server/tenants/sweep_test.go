package tenants_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The type counted is a backend that counts calls to its sweep.
type counted struct {
	storage.Backend
	sweeps atomic.Int64
}

func (b *counted) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	if !what.Expired.IsZero() {
		b.sweeps.Add(1)
	}
	return b.Backend.DeleteWhere(ctx, what, limit)
}

// A sweep covers all tenants, including tenants whose hosts are closed. The sweep ends idle
// sessions with their records, and frees expired records.
func TestSweepIsForAllTenants(t *testing.T) {
	now := time.Now()
	var offset atomic.Int64
	b := &counted{Backend: mem.New()}
	a := serve(t, count, func(o *tenants.Options) {
		o.Host.Backend, o.Host.SweepEvery, o.Open = b, -1, 2
		o.Host.Now = func() time.Time { return now.Add(time.Duration(offset.Load())) }
	})
	const tenantCount = 5
	for i := range tenantCount {
		tenant := fmt.Sprint("tenant", i)
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		c := host.Caller{Tenant: tenant, User: "ann", Session: "s1"}
		if _, err := h.Sessions().Start(t.Context(), c, session.Start{}); err != nil {
			t.Fatal(err)
		}
		release()
	}
	open := func() (n int) {
		heads, err := b.Heads(t.Context(), storage.MakeKey(storage.Part{Tag: storage.System, Value: "session"}), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			if h.Expires.IsZero() {
				n++
			}
		}
		return n
	}
	if err := a.Sweep(t.Context()); err != nil || open() != tenantCount || b.sweeps.Load() != 1 {
		t.Fatalf("a sweep at once: %v, %d sessions open, %d sweeps of the backend", err, open(), b.sweeps.Load())
	}
	offset.Store(int64(29 * time.Hour)) // a day, an additional eighth, and the hour that the sweeper waits
	if err := a.Sweep(t.Context()); err != nil || open() != 0 || b.sweeps.Load() != 2 {
		t.Errorf("a sweep after a day: %v, %d sessions open, %d sweeps of the backend", err, open(), b.sweeps.Load())
	}
}

// The hosts of a service do not run their own sweeps.
func TestServedHostsDoNotSweep(t *testing.T) {
	b := &counted{Backend: mem.New()}
	a := serve(t, count, func(o *tenants.Options) { o.Host.Backend, o.Host.SweepEvery = b, 50*time.Millisecond })
	for i := range 10 {
		look(t, a, fmt.Sprint("tenant", i))
	}
	began := time.Now()
	for b.sweeps.Load() < 5 {
		time.Sleep(time.Millisecond)
	}
	maximum := int64(time.Since(began)/(50*time.Millisecond)) + 8
	if n := b.sweeps.Load(); n > maximum {
		t.Errorf("%d sweeps in %v, of 10 tenants; want one per 50ms", n, time.Since(began))
	}
}

const greeter = `AGENT: Greeter
GOAL: "Greet"
MEMORY:
  persistent:
    - user.count
    - user.seen
  remember:
    - WHEN: user.count IS SET
      STORE: user.count -> user.seen
  recall:
    - ON: session:end
      ACTION: inject_context
      PATHS: [user.count]
`

// A sweep fires the event session:end for agents, even if the host of the tenant is closed.
func TestSweepEndsSessionsOfAgents(t *testing.T) {
	now := time.Now()
	var offset atomic.Int64
	declared, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte("app: desk\n")}, "greeter.abl": {Data: []byte(greeter)}}, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	a := serve(t, count, func(o *tenants.Options) {
		o.Host.SweepEvery, o.Open = -1, 1
		o.Host.Now = func() time.Time { return now.Add(time.Duration(offset.Load())) }
	})
	if err := a.Serve(t.Context(), []*app.App{declared}); err != nil {
		t.Fatal(err)
	}
	fact := func(tenant, op string, args ...string) string {
		h, release, err := a.Host(t.Context(), tenant, "desk")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		c := host.Caller{Tenant: tenant, User: "ann", Session: "s1"}
		if op == abi.SetFact {
			if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: c}); err != nil {
				t.Fatal(err)
			}
		}
		call := abi.Call{Op: op}
		for _, arg := range args {
			call.Args = append(call.Args, json.RawMessage(arg))
		}
		c.Session = ""
		reply, _, err := h.Stores().Do(t.Context(), c, memory.Operator(), call)
		if err != nil {
			t.Fatal(err)
		}
		return string(reply)
	}
	all := []string{"acme", "globex", "initech"}
	for i, tenant := range all {
		fact(tenant, abi.SetFact, `"user.count"`, fmt.Sprint(i))
	}
	offset.Store(int64(29 * time.Hour))
	if err := a.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, tenant := range all {
		if got := fact(tenant, abi.GetFact, `"user.seen"`); got != fmt.Sprint(i) {
			t.Errorf("user.seen of %s is %s; want %d, stored at the end of the session", tenant, got, i)
		}
	}
}
