package tenants_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// sleepy returns an app with sleep-time memory. The stub engine runs the tool of the app.
func sleepy(t *testing.T) *app.App {
	t.Helper()
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nblocks: true\nsleep: {tool: look}\ntools:\n  look: {source: look.js, description: d}\n")},
		"look.js":  {Data: []byte("x")},
	}, "app.yaml")
	if declared == nil {
		t.Fatal(problems)
	}
	return declared
}

// The function settled serves an app with the conversations of several tenants, advances the clock
// until the conversations have settled, and closes the hosts.
func settled(t *testing.T, n int, run func(context.Context, engine.Host) (engine.Output, error), change func(*tenants.Options)) *tenants.Apps {
	t.Helper()
	var mu sync.Mutex
	at := time.Now()
	a := serve(t, run, func(o *tenants.Options) {
		o.Host.SweepEvery, o.SleepEvery, o.Idle, o.Open = -1, -1, -1, 1
		o.Host.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return at
		}
		change(o)
	})
	if err := a.Serve(t.Context(), []*app.App{sleepy(t)}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		tenant := fmt.Sprintf("tenant%02d", i)
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		c := host.Caller{Tenant: tenant, User: "ann", Session: "s"}
		if _, err := h.Sessions().AddMessages(t.Context(), c, []host.Message{{Role: "user", Content: "hello"}}); err != nil {
			t.Fatal(err)
		}
		release()
	}
	mu.Lock()
	defer mu.Unlock()
	at = at.Add(declare.DefaultSleepAfter)
	return a
}

// waiting returns the number of conversations that still wait for their run.
func waiting(t *testing.T, a *tenants.Apps, n int) (left int) {
	t.Helper()
	for i := range n {
		tenant := fmt.Sprintf("tenant%02d", i)
		h, release, err := a.Host(t.Context(), tenant, "shop")
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Sleep().Status(t.Context(), host.Caller{Tenant: tenant})
		if err != nil {
			t.Fatal(err)
		}
		left += s.Due + s.Waiting + s.Running
		release()
	}
	return left
}

func noProposals(context.Context, engine.Host) (engine.Output, error) {
	return engine.Output{Output: []byte("[]")}, nil
}

// TestSleepIsForAllTenants begins the runs of more tenants than can have runs in progress at the
// same time. TestSleepIsForAllTenants includes tenants without an open host.
func TestSleepIsForAllTenants(t *testing.T) {
	const n = 20
	a := settled(t, n, noProposals, func(*tenants.Options) {})
	if left := waiting(t, a, n); left != n {
		t.Fatalf("%d conversations wait; want %d", left, n)
	}
	for pass := 0; waiting(t, a, n) > 0; pass++ {
		if pass == 10 {
			t.Fatalf("%d conversations are left after %d passes", waiting(t, a, n), pass)
		}
		if err := a.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSleepInBackground begins due runs without a request.
func TestSleepInBackground(t *testing.T) {
	ran := make(chan struct{}, 1)
	run := func(ctx context.Context, h engine.Host) (engine.Output, error) {
		select {
		case ran <- struct{}{}:
		default:
		}
		return noProposals(ctx, h)
	}
	settled(t, 1, run, func(o *tenants.Options) { o.SleepEvery = time.Millisecond })
	select {
	case <-ran:
	case <-t.Context().Done():
		t.Error("no run began")
	}
}
