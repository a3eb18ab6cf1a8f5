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

// of makes a party of a short text: an app, a user behind a slash, and a tenant behind an at.
func of(text string) admission.Party {
	text, tenant, _ := strings.Cut(text, "@")
	app, user, _ := strings.Cut(text, "/")
	return admission.Party{App: app, User: user, Tenant: tenant}
}

// line is a gate at which runs arrive one after the other; each that gets in is noted, and stays.
type line struct {
	t    *testing.T
	gate *admission.Gate
	mu   sync.Mutex
	in   []string
}

func (l *line) arrive(names ...string) {
	for _, name := range names {
		go func() {
			if err := l.gate.Enter(l.t.Context(), of(name)); err != nil {
				return
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.in = append(l.in, name)
		}()
		synctest.Wait()
	}
}

// leave has one go, and returns who came in after it.
func (l *line) leave(name string) string {
	before := len(l.in)
	l.gate.Leave(of(name))
	synctest.Wait()
	return strings.Join(l.in[before:], " ")
}

func (l *line) has(want string) {
	l.t.Helper()
	if got := strings.Join(l.in, " "); got != want {
		l.t.Errorf("let in %q; want %q", got, want)
	}
}

func TestAppsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a", "a", "a", "a", "b", "c", "b")
		l.has("a")
		for i, want := range []string{"a", "b", "c", "a", "b", "a", ""} {
			if got := l.leave(l.in[i]); got != want {
				t.Errorf("after %d runs %q gets in; want %q", i+1, got, want)
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
				t.Errorf("after %d runs %q gets in; want %q", i+1, got, want)
			}
		}
	})
}

func TestAnAppLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4, PerApp: 3, PerUser: 2})}
		l.arrive("a/ann", "a/ann", "a/ann", "a/bob", "a/bob", "b/ann")
		l.has("a/ann a/ann a/bob b/ann")
		if got := l.leave("b/ann"); got != "" {
			t.Errorf("%q got in beyond what its app may", got)
		}
		if got := l.leave("a/bob"); got != "a/bob" {
			t.Errorf("%q got in; want a/bob, since ann runs all she may", got)
		}
	})
}

func TestNobodyIsNoUser(t *testing.T) {
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
		if err := l.gate.Enter(t.Context(), of("a")); !errors.Is(err, abi.Unavailable) {
			t.Errorf("the third of an app to wait gets %v; want unavailable", err)
		}
		l.arrive("b")
		if err := l.gate.Enter(t.Context(), of("b")); !errors.Is(err, abi.Unavailable) {
			t.Errorf("the fourth to wait gets %v; want unavailable", err)
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
				t.Errorf("after %d runs %q gets in; want %q", i+1, got, want)
			}
		}
	})
}

func TestATenantLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4})}
		l.arrive("a@x", "b@x", "c@x", "d@x", "a@y")
		l.has("a@x b@x c@x a@y")
	})
}

// TestAnAppLeavesItsTenantRoom has an app of a tenant run all it may: another app of that tenant need not wait for it.
func TestAnAppLeavesItsTenantRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 4})}
		l.arrive("a", "a", "a", "a", "b")
		l.has("a a b")
	})
}

// refusal enters as a party that is to be refused, and returns the error's text.
func (l *line) refusal(name string) string {
	l.t.Helper()
	err := l.gate.Enter(l.t.Context(), of(name))
	if !errors.Is(err, abi.Unavailable) {
		l.t.Fatalf("%s gets %v; want unavailable", name, err)
	}
	return err.Error()
}

// TestAUserFillsNoQueue has a user, and then several, send more than may wait: others wait as if they had not.
func TestAUserFillsNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1, Waiting: 10, WaitingPerTenant: 8, WaitingPerApp: 6, WaitingPerUser: 3})}
		l.arrive("a/bob@x", "a/bob@x", "a/bob@x", "a/bob@x")
		if got := l.refusal("a/bob@x"); !strings.Contains(got, "3 of this user") {
			t.Errorf("bob's fifth gets %q", got)
		}
		l.arrive("a/eve@x", "a/eve@x", "a/eve@x")
		if got := l.refusal("a/eve@x"); !strings.Contains(got, "3 of this user") {
			t.Errorf("eve's fourth gets %q", got)
		}
		pushed := make(chan error, 1)
		go func() { pushed <- l.gate.Enter(t.Context(), of("b/dan@x")) }()
		synctest.Wait()
		l.arrive("a/ann@x") // the app is full: the last of the longest queue goes
		if got := l.leave("a/bob@x"); got == "" {
			t.Error("nobody got in")
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
			t.Errorf("let in %v; want ann's run, and all of bob's and eve's but the last of the longest queue", in)
		}
	})
}

// TestNobodysQueueGivesWay has runs for nobody known fill an app, which a user's run may still wait for.
func TestNobodysQueueGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1, WaitingPerApp: 4})}
		l.arrive("a@x", "a@x", "a@x", "a@x", "a@x")
		if got := l.refusal("a@x"); !strings.Contains(got, "4 of this app") {
			t.Errorf("the sixth gets %q", got)
		}
		l.arrive("a/ann@x", "b@y")
		for range 6 {
			l.leave(l.in[len(l.in)-1])
		}
		if got := strings.Join(l.in, " "); strings.Count(got, "a@x") != 4 || strings.Count(got, "a/ann@x") != 1 {
			t.Errorf("let in %q; want ann's run in the place of one of nobody's", got)
		}
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, gate: newGate(t, admission.Limits{Running: 1})}
		l.arrive("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.gate.Enter(ctx, of("a")); !errors.Is(err, abi.Timeout) {
			t.Errorf("Enter = %v; want a timeout", err)
		}
		if err := l.gate.Enter(ctx, of("b")); !errors.Is(err, abi.Timeout) {
			t.Errorf("Enter with a context that has ended = %v; want a timeout", err)
		}
		l.arrive("b")
		if got := l.leave("a"); got != "b" {
			t.Errorf("%q got in; want b", got)
		}
	})
}

// Nobody is lost: whatever the order, all who wait get in or give up, and the bounds hold all the time.
func TestManyAtOnce(t *testing.T) {
	limits := admission.Limits{Running: 5, PerApp: 3, PerUser: 2}
	g := newGate(t, limits)
	var mu sync.Mutex
	now := map[string]int{}
	change := func(p admission.Party, by int) {
		mu.Lock()
		defer mu.Unlock()
		for name, most := range map[string]int{"all": limits.Running, p.App: limits.PerApp, p.App + "/" + p.User: limits.PerUser} {
			if now[name] += by; now[name] > most {
				t.Errorf("%d of %s run; want at most %d", now[name], name, most)
			}
		}
	}
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			p := admission.Party{App: fmt.Sprint("app", i%3), User: fmt.Sprint("user", i%7)}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				go cancel()
			}
			if g.Enter(ctx, p) != nil {
				return
			}
			change(p, 1)
			change(p, -1)
			g.Leave(p)
		})
	}
	all.Wait()
	// As many as may run get in at once afterwards: no place was lost, and none is there twice.
	ended, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for i := range limits.Running + 1 {
		if err := g.Enter(ended, admission.Party{App: fmt.Sprint("later", i)}); (err == nil) != (i < limits.Running) {
			t.Errorf("afterwards, Enter no. %d = %v", i+1, err)
		}
	}
}

func TestNegativeLimits(t *testing.T) {
	if _, err := admission.New(admission.Limits{PerApp: -1}); err == nil || !strings.Contains(err.Error(), "Limits.PerApp is negative") {
		t.Errorf("New = %v; want that PerApp is negative", err)
	}
}

func ExampleGate() {
	gate, err := admission.New(admission.Limits{Running: 1, WaitingPerApp: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := admission.Party{App: "shop", User: "ann"}
	fmt.Println(gate.Enter(context.Background(), ann))
	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(gate.Enter(soon, ann)) // it waits as long as it may
	gate.Leave(ann)
	// Output:
	// <nil>
	// timeout: the tool did not finish in time
}

func BenchmarkEnter(b *testing.B) {
	g, p := newGate(b, admission.Limits{}), admission.Party{App: "shop", User: "ann"}
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Enter(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		g.Leave(p)
	}
}

// TestOneApp: an app without neighbours may run all that its tenant may.
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
		t.Errorf("OneApp = %+v; want as many of an app as of a tenant: %+v", got, want)
	}
}
