package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
)

// ofTest is the admission flow of the runs in most tests.
var ofTest = admission.Flow{App: "test", Tenant: host.DefaultTenant}

// inBubble runs a test in a synctest bubble, which has a fake clock. The worker pool is started
// outside of the bubble, because the pool's goroutines outlive the test.
func inBubble(t *testing.T, test func(*testing.T)) {
	workerPool()
	synctest.Test(t, test)
}

// The host does not decode the input of a run before the gate has admitted the run. Therefore a
// thousand waiting callers use no memory for decoded inputs.
func TestInputsWaitForAdmission(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		gate := oneAtATime(t, ofTest)
		h := openTool(t, ``, stub{}.with(gate))
		gate.Release(ofTest)
		if _, err := run(h, host.Invocation{}); err != nil { // compiles the tool
			t.Fatal(err)
		}
		for name, inv := range map[string]host.Invocation{
			"input": {Input: json.RawMessage(`[`)}, "context": {Context: json.RawMessage(`[`)},
		} {
			if err := gate.Acquire(t.Context(), ofTest); err != nil {
				t.Fatal(err)
			}
			_, err := run(h, inv)
			if !errors.Is(err, abi.Timeout) || !strings.Contains(err.Error(), "time limit (5s) while it was queued") {
				t.Errorf("a bad %s while the gate is occupied = %v; want a timeout that mentions the queue", name, err)
			}
			gate.Release(ofTest)
			if _, err := run(h, inv); !errors.Is(err, abi.InputInvalid) {
				t.Errorf("a bad %s = %v; want input_invalid", name, err)
			}
		}
	})
}

// The time that a run waits at the gate is charged to the run. The time to compile the tool or to
// start its process is not charged.
func TestTheTimeOfARun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		gate := oneAtATime(t, ofTest)
		gate.Release(ofTest)
		var left time.Duration
		h := openTool(t, ``, stub{
			load: func(context.Context, engine.Source) error { time.Sleep(10 * time.Second); return nil },
			warm: func(context.Context) error { time.Sleep(20 * time.Second); return nil },
			run: func(ctx context.Context, _ engine.Host) (engine.Output, error) {
				deadline, _ := ctx.Deadline()
				left = time.Until(deadline)
				return engine.Output{}, nil
			},
		}.with(gate))
		if result, err := run(h, host.Invocation{}); err != nil || left != 5*time.Second || result.Usage.WallMS != 0 {
			t.Errorf("the first run had %s left and took %v ms: %v; want 5 s, without the compilation", left, result.Usage.WallMS, err)
		}
		if err := gate.Acquire(t.Context(), ofTest); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Second, func() { gate.Release(ofTest) })
		if result, err := run(h, host.Invocation{}); err != nil || left != 2*time.Second || result.Usage.WallMS != 3000 {
			t.Errorf("a run that waited 3 s had %s of its 5 s, and took %v ms: %v", left, result.Usage.WallMS, err)
		}
		if _, err := run(h, host.Invocation{Timeout: 10 * time.Second}); !errors.Is(err, abi.Timeout) {
			t.Errorf("a run for 10 s that needs 20 s to start = %v; want a timeout", err)
		}
	})
}

// The compilation of a tool waits for a slot of the tenant whose run needs the tool. The
// compilation does not wait for the slots of other tenants.
func TestCompilingIsTheTenants(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		compiled := 0
		counting := stub{load: func(context.Context, engine.Source) error { compiled++; return nil }}
		h := openTool(t, ``, counting.with(oneAtATime(t, ofTest)))
		if _, err := run(h, host.Invocation{Timeout: time.Second}); !errors.Is(err, abi.Timeout) || compiled != 0 {
			t.Errorf("Run = %v, compiled %d times; want a timeout and no compilation", err, compiled)
		}
		h = openTool(t, ``, counting.with(oneAtATime(t, ofTest)))
		inTime, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if broken := h.Check(inTime); len(broken) != 1 || compiled != 0 {
			t.Errorf("Check = %v, compiled %d times; want a timeout and no compilation", broken, compiled)
		}
		h = openTool(t, ``, counting.with(oneAtATime(t, ofTest)))
		if _, err := run(h, host.Invocation{Caller: host.Caller{Tenant: "acme", User: "ann"}}); err != nil || compiled != 1 {
			t.Errorf("Run of another tenant = %v, compiled %d times; want once", err, compiled)
		}
	})
}

// If the gate rejects a run before the run's tool is compiled, the next run compiles the tool.
func TestNoTurnToCompileIsNoFailure(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		gate := oneAtATime(t, ofTest)
		h := openTool(t, ``, stub{}.with(gate))
		if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.Unavailable) {
			t.Errorf("Run = %v; want unavailable", err)
		}
		gate.Release(ofTest)
		if _, err := run(h, host.Invocation{}); err != nil {
			t.Errorf("the next run = %v; want it compiled", err)
		}
	})
}

// If apps of different tenants have the same id, their isolation domains are nevertheless
// different.
func TestWhoseCodeItIs(t *testing.T) {
	domain := func(tenants ...string) (found string) {
		h := openTool(t, ``, stub{load: func(_ context.Context, src engine.Source) error { found = src.Domain; return nil }}.with(nil),
			func(o *host.Options) { o.Tenants = tenants })
		h.Check(t.Context())
		return found
	}
	none, two := domain(), domain("acme", "zoo")
	if none == "" || none != domain(host.DefaultTenant) || two != domain("zoo", "acme") {
		t.Errorf("the domains of the same tenants = %s, %s; want equal domains", none, two)
	}
	if none == two || two == domain("acme") || two == domain("acme zoo") || two == domain(`acme" "zoo`) {
		t.Errorf("the domains of different tenants = %s, %s; want different domains", none, two)
	}
}
