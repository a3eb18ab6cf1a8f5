package admission_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
)

func newGate(t testing.TB, limits admission.Limits) *admission.Gate {
	t.Helper()
	g, err := admission.New(limits)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The function "of" parses a flow from a short text in the format "app/user@tenant".
func of(text string) admission.Flow {
	text, tenant, _ := strings.Cut(text, "@")
	app, user, _ := strings.Cut(text, "/")
	return admission.Flow{App: app, User: user, Tenant: tenant}
}

// line is a gate. Runs arrive at this gate one after the other. The test records each admitted run.
// The run stays active until the test ends it.
type line struct {
	t    *testing.T
	gate *admission.Gate
	mu   sync.Mutex
	in   []string
}

func (l *line) arrive(names ...string) {
	for _, name := range names {
		go func() {
			if err := l.gate.Acquire(l.t.Context(), of(name)); err != nil {
				return
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.in = append(l.in, name)
		}()
		synctest.Wait()
	}
}

// leave ends a run and returns the runs that are then admitted.
func (l *line) leave(name string) string {
	before := len(l.in)
	l.gate.Release(of(name))
	synctest.Wait()
	return strings.Join(l.in[before:], " ")
}

func (l *line) has(want string) {
	l.t.Helper()
	if got := strings.Join(l.in, " "); got != want {
		l.t.Errorf("admitted %q; want %q", got, want)
	}
}

func TestAppsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a", "a", "a", "a", "b", "c", "b")
		l.has("a")
		for i, want := range []string{"a", "b", "c", "a", "b", "a", ""} {
			if got := l.leave(l.in[i]); got != want {
				t.Errorf("after %d runs %q is admitted; want %q", i+1, got, want)
			}
		}
	})
}

func TestUsersOfAnAppTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a/ann", "a/ann", "a/ann", "a/bob", "a/eve")
		for i, want := range []string{"a/ann", "a/bob", "a/eve", "a/ann"} {
			if got := l.leave(l.in[i]); got != want {
				t.Errorf("after %d runs %q is admitted; want %q", i+1, got, want)
			}
		}
	})
}

func TestAppCannotTakeAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4, PerApp: 3, PerUser: 2})}
		l.arrive("a/ann", "a/ann", "a/ann", "a/bob", "a/bob", "b/ann")
		l.has("a/ann a/ann a/bob b/ann")
		if got := l.leave("b/ann"); got != "" {
			t.Errorf("%q was admitted beyond the bound of its app", got)
		}
		if got := l.leave("a/bob"); got != "a/bob" {
			t.Errorf("%q was admitted; want a/bob, because ann has reached her bound", got)
		}
	})
}

func TestRunsWithoutUserHaveNoUserBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4, PerApp: 3, PerUser: 1})}
		l.arrive("a", "a", "a", "a")
		l.has("a a a")
	})
}

func TestTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1, Waiting: 3, WaitingPerApp: 2})}
		l.arrive("a", "a", "a")
		if err := l.gate.Acquire(t.Context(), of("a")); !errors.Is(err, abi.Unavailable) {
			t.Errorf("the third waiting run of an app gets %v; want unavailable", err)
		}
		l.arrive("b")
		if err := l.gate.Acquire(t.Context(), of("b")); !errors.Is(err, abi.Unavailable) {
			t.Errorf("the fourth waiting run gets %v; want unavailable", err)
		}
		l.leave("a")
		l.arrive("b")
		for range 4 {
			l.leave(l.in[len(l.in)-1])
		}
		l.has("a a b a b")
	})
}

func TestTenantsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a@x", "a@x", "b@x", "c@x", "a@y", "a@y")
		for i, want := range []string{"a@x", "a@y", "b@x", "a@y", "c@x"} {
			if got := l.leave(l.in[i]); got != want {
				t.Errorf("after %d runs %q is admitted; want %q", i+1, got, want)
			}
		}
	})
}

func TestTenantCannotTakeAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4})}
		l.arrive("a@x", "b@x", "c@x", "d@x", "a@y")
		l.has("a@x b@x c@x a@y")
	})
}

// If an app has reached its limit, it must not delay another app of the same tenant.
func TestAppBoundSparesItsTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4})}
		l.arrive("a", "a", "a", "a", "b")
		l.has("a a b")
	})
}

// rejection requests a slot for a flow. The gate must reject the request, and rejection returns the
// text of the error.
func (l *line) rejection(name string) string {
	l.t.Helper()
	err := l.gate.Acquire(l.t.Context(), of(name))
	if !errors.Is(err, abi.Unavailable) {
		l.t.Fatalf("%s gets %v; want unavailable", name, err)
	}
	return err.Error()
}

// TestUserCannotFillQueue sends more runs than fit into the queue. First all runs belong to one
// user, and then they belong to several users. If one user sends too many runs, the runs of other
// users must not be delayed.
func TestUserCannotFillQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1, Waiting: 10, WaitingPerTenant: 8, WaitingPerApp: 6, WaitingPerUser: 3})}
		l.arrive("a/bob@x", "a/bob@x", "a/bob@x", "a/bob@x")
		if got := l.rejection("a/bob@x"); !strings.Contains(got, "3 for this user") {
			t.Errorf("bob's fifth gets %q", got)
		}
		l.arrive("a/eve@x", "a/eve@x", "a/eve@x")
		if got := l.rejection("a/eve@x"); !strings.Contains(got, "3 for this user") {
			t.Errorf("eve's fourth gets %q", got)
		}
		pushed := make(chan error, 1)
		go func() { pushed <- l.gate.Acquire(t.Context(), of("b/dan@x")) }()
		synctest.Wait()
		l.arrive("a/ann@x") // the app is full, so the last run of the longest queue is removed
		if got := l.leave("a/bob@x"); got == "" {
			t.Error("no run was admitted")
		}
		in := map[string]int{}
		for i := 1; i < 8; i++ {
			select {
			case err := <-pushed:
				if err != nil {
					t.Errorf("dan's only run gets %v", err)
				}
				l.leave("b/dan@x")
			default:
				l.leave(l.in[len(l.in)-1])
			}
		}
		for _, name := range l.in {
			in[name]++
		}
		if in["a/ann@x"] != 1 || in["a/bob@x"]+in["a/eve@x"] != 6 {
			t.Errorf("admitted %v; want ann's run, and all of bob's and eve's but the last of the longest queue", in)
		}
	})
}

// TestUserReplacesRunWithoutUser fills the queue of an app with runs that have no user. A user's
// run must replace one of the runs without a user.
func TestUserReplacesRunWithoutUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1, WaitingPerApp: 4})}
		l.arrive("a@x", "a@x", "a@x", "a@x", "a@x")
		if got := l.rejection("a@x"); !strings.Contains(got, "4 for this app") {
			t.Errorf("the sixth gets %q", got)
		}
		l.arrive("a/ann@x", "b@y")
		for range 6 {
			l.leave(l.in[len(l.in)-1])
		}
		if got := strings.Join(l.in, " "); strings.Count(got, "a@x") != 4 || strings.Count(got, "a/ann@x") != 1 {
			t.Errorf("admitted %q; want ann's run instead of one without a user", got)
		}
	})
}

func TestAcquireEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.gate.Acquire(ctx, of("a")); !errors.Is(err, abi.Timeout) {
			t.Errorf("Acquire = %v; want a timeout", err)
		}
		if err := l.gate.Acquire(ctx, of("b")); !errors.Is(err, abi.Timeout) {
			t.Errorf("Acquire with a context that has ended = %v; want a timeout", err)
		}
		l.arrive("b")
		if got := l.leave("a"); got != "b" {
			t.Errorf("%q was admitted; want b", got)
		}
	})
}

// The test executes events in many orders. In each order, every waiting run must either be admitted
// or give up. No limit may be exceeded.
func TestManyAtOnce(t *testing.T) {
	limits := admission.Limits{Running: 5, PerApp: 3, PerUser: 2}
	g := newGate(t, limits)
	var mu sync.Mutex
	now := map[string]int{}
	change := func(p admission.Flow, by int) {
		mu.Lock()
		defer mu.Unlock()
		for name, limit := range map[string]int{"all": limits.Running, p.App: limits.PerApp, p.App + "/" + p.User: limits.PerUser} {
			if now[name] += by; now[name] > limit {
				t.Errorf("%d runs of %s are active; want at most %d", now[name], name, limit)
			}
		}
	}
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			p := admission.Flow{App: fmt.Sprint("app", i%3), User: fmt.Sprint("user", i%7)}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				go cancel()
			}
			if g.Acquire(ctx, p) != nil {
				return
			}
			change(p, 1)
			change(p, -1)
			g.Release(p)
		})
	}
	all.Wait()
	// When all runs have ended, the gate must admit exactly as many concurrent runs as its bound
	// allows. If the number of admitted runs equals the bound, no slot was lost or duplicated.
	ended, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for i := range limits.Running + 1 {
		if err := g.Acquire(ended, admission.Flow{App: fmt.Sprint("later", i)}); (err == nil) != (i < limits.Running) {
			t.Errorf("afterwards, Acquire no. %d = %v", i+1, err)
		}
	}
}

func TestNegativeLimits(t *testing.T) {
	if _, err := admission.New(admission.Limits{PerApp: -1}); err == nil || !strings.Contains(err.Error(), "Limits.PerApp is negative") {
		t.Errorf("New = %v; want an error about PerApp", err)
	}
}

func ExampleGate() {
	gate, err := admission.New(admission.Limits{Running: 1, WaitingPerApp: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := admission.Flow{App: "shop", User: "ann"}
	fmt.Println(gate.Acquire(context.Background(), ann))
	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(gate.Acquire(soon, ann)) // Acquire waits until the context ends
	gate.Release(ann)
	// Output:
	// <nil>
	// timeout: the tool exceeded its time limit
}

func BenchmarkEnter(b *testing.B) {
	g, p := newGate(b, admission.Limits{}), admission.Flow{App: "shop", User: "ann"}
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Acquire(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		g.Release(p)
	}
}

// TestOneApp checks that the only app of a tenant can use all slots of the tenant.
func TestOneApp(t *testing.T) {
	gate, err := admission.New(admission.OneApp())
	if err != nil {
		t.Fatal(err)
	}
	shared, err := admission.New(admission.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gate.Limits(), shared.Limits(); got.PerApp != want.PerTenant || got.PerTenant != want.PerTenant || got.Running != want.Running {
		t.Errorf("OneApp = %+v; want the same bound for an app and a tenant: %+v", got, want)
	}
}
