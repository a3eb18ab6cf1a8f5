package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
)

// newGate returns a gate with the given limits, and an option that sets the gate of a host.
func newGate(t *testing.T, limits admission.Limits) (*admission.Gate, func(*host.Options)) {
	t.Helper()
	gate, err := admission.New(limits)
	if err != nil {
		t.Fatal(err)
	}
	return gate, func(o *host.Options) { o.Gate = gate }
}

// started starts an invocation. started returns a function that waits for the result of this
// invocation.
func started(h *host.Host, inv host.Invocation) (wait func() (*report.Result, error)) {
	var result *report.Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = run(h, inv)
	}()
	return func() (*report.Result, error) {
		<-done
		return result, err
	}
}

// TestParkedRunHoldsNothing starts a run that waits for a model, at a gate that admits only one
// run. While the run waits, other runs that use the same record must be admitted and must commit.
func TestParkedRunHoldsNothing(t *testing.T) { everywhere(t, testParkedRunHoldsNothing) }

func testParkedRunHoldsNothing(t *testing.T) {
	gate, with := newGate(t, admission.Limits{Running: 1})
	h, server := openModelTool(t, ask+`
		await memory.set_content("notes", {[$who]: true});
		if ($ask) await ask("hello");
		return 1`, with, declareInputs)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{Input: []byte(`{"who": "first", "ask": true}`)})
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if n := gate.Parked(); n != 1 {
		t.Errorf("%d runs are parked; want 1", n)
	}
	if result, err := run(h, host.Invocation{Input: []byte(`{"who": "second", "ask": false}`)}); err != nil || result.Attempts != 1 {
		t.Errorf("the second run = %+v, %v; want success while the first one waits", result, err)
	}
	release()
	if result, err := wait(); err != nil {
		t.Errorf("the first run = %+v, %v", result, err)
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d runs are parked after the end; want none", n)
	}
}

// declareInputs declares the inputs of the tests' tool.
func declareInputs(o *host.Options) {
	o.App.Tools[0].InputSchema = []byte(`{"type":"object","properties":{"who":{"type":"string"},"ask":{"type":"boolean"},"n":{"type":"integer"}}}`)
}

// If a run would exceed the limit on parked runs, it must get a fault and send no request.
func TestTooManyParked(t *testing.T) { everywhere(t, testTooManyParked) }

func testTooManyParked(t *testing.T) {
	_, with := newGate(t, admission.Limits{Running: 4, ParkedPerUser: 1})
	h, server := openModelTool(t, ask+`try { return (await ask("hello")).text } catch (e) { return e.code }`, with)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{})
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	result, err := run(h, host.Invocation{})
	if err != nil || string(result.Output) != `"unavailable"` {
		t.Errorf("the second run = %s, %v; want unavailable", result.Output, err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the provider received %d requests; want 1", n)
	}
	release()
	if result, err := wait(); err != nil || string(result.Output) != `"re: hello"` {
		t.Errorf("the first run = %s, %v", result.Output, err)
	}
}

// TestPromptsArePaidOnce changes a record that a run has read. Therefore the run is executed again.
// The second attempt must get the answers that the model gave to the first attempt.
func TestPromptsArePaidOnce(t *testing.T) { everywhere(t, testPromptsArePaidOnce) }

func testPromptsArePaidOnce(t *testing.T) {
	h, server := openModelTool(t, ask+`
		const before = await memory.get_content("notes");
		const order = [];
		await Promise.all(["a", "b", "c", "a"].map(async q => { order.push((await ask(q)).text) }));
		await memory.set_content("notes", {n: (before?.n ?? 0) + 1});
		return order`, declareInputs)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{})
	if err := server.Await(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if err := setNotes(t.Context(), h, `{"other": 1}`); err != nil {
		t.Fatal(err)
	}
	release()
	result, err := wait()
	if err != nil || result.Attempts != 2 || result.Usage.Model.Calls != 4 || len(result.Orphaned) != 0 {
		t.Fatalf("Run = %+v, %v; want 2 attempts, 4 calls, no orphan", result, err)
	}
	for key, n := range server.Keys() {
		if n != 1 || key == "" {
			t.Errorf("the request %q was made %d times; want once", key, n)
		}
	}
	if n := len(server.Requests()); n != 4 {
		t.Errorf("the provider received %d requests; want 4", n)
	}
}

// If an earlier attempt has sent a request that the last attempt did not repeat, the Result must
// list this request.
func TestOrphanedCalls(t *testing.T) {
	h, server := openModelTool(t, ask+`
		const before = await memory.get_content("notes");
		await ask("I know " + JSON.stringify(before));
		await memory.set_content("notes", {n: 1})`)
	release := server.Hold()
	defer release()
	wait := started(h, host.Invocation{})
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := setNotes(t.Context(), h, `{"other": 1}`); err != nil {
		t.Fatal(err)
	}
	release()
	result, err := wait()
	if want := (report.OrphanedCall{Kind: "chat", Target: "local"}); err != nil || len(result.Orphaned) != 1 || result.Orphaned[0] != want {
		t.Errorf("Run = %+v, %v; want one orphaned call", result, err)
	}
	if result.Usage.Model.Calls != 2 {
		t.Errorf("usage = %+v; want 2 calls", result.Usage.Model)
	}
}

// openLimited is like openModelTool, but the tool has limits.
func openLimited(t *testing.T, source, limits string, change ...func(*host.Options)) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	files := fstest.MapFS{
		"app.yaml": {Data: []byte(strings.ReplaceAll(modelApp, "LIMITS", limits))},
		"tool.js":  {Data: []byte(source)},
	}
	with := func(o *host.Options) { o.Models = modelSet(t, server, "") }
	return openApp(t, files, append([]func(*host.Options){with}, change...)...), server
}

// A run can wait for longer than its time limit, but cannot compute for longer.
func TestTimeoutCountsComputing(t *testing.T) { everywhere(t, testTimeoutCountsComputing) }

func testTimeoutCountsComputing(t *testing.T) {
	h, server := openLimited(t, ask+`for (;;) { const a = await ask("x"); if (a.text === "loop") for (;;); return a.text }`, "timeout: 300ms")
	server.Script(modeltest.Reply{Text: "late", Delay: 600 * time.Millisecond}, modeltest.Reply{Text: "loop"})
	if result, err := run(h, host.Invocation{}); err != nil || string(result.Output) != `"late"` {
		t.Errorf("Run = %s, %v; want the late answer", result.Output, err)
	}
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.Timeout) || !strings.Contains(err.Error(), "300ms") {
		t.Errorf("Run = %v; want a timeout after 300ms", err)
	}
}

// If a run waits until its deadline, the run must end. The locks and the worker of the run must be
// released, and the request of the run must be canceled.
func TestDeadlineCountsWaiting(t *testing.T) { everywhere(t, testDeadlineCountsWaiting) }

func testDeadlineCountsWaiting(t *testing.T) {
	gate, with := newGate(t, admission.Limits{Running: 1})
	h, server := openLimited(t, ask+`if ($n) return 1; try { await ask("x") } catch { return "caught" }`, "timeout: 100ms, deadline: 200ms", with, declareInputs)
	release := server.Hold()
	defer release()
	_, err := run(h, host.Invocation{})
	if !errors.Is(err, abi.Timeout) || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("Run = %v; want a timeout at the deadline", err)
	}
	if n := gate.Parked(); n != 0 {
		t.Errorf("%d runs are parked; want none", n)
	}
	for range 2 {
		if _, err := run(h, host.Invocation{Input: []byte(`{"n": 1}`)}); err != nil {
			t.Errorf("a later run = %v; want success", err)
		}
	}
}

// TestExternalCallLimit checks that a run ends when it exceeds the limit on external calls.
func TestExternalCallLimit(t *testing.T) { everywhere(t, testExternalCallLimit) }

func testExternalCallLimit(t *testing.T) {
	h, server := openModelTool(t, ask+`for (let i = 0; i < 5; i++) try { await ask("x" + i) } catch {}`, func(o *host.Options) { o.Limits.ExternalCalls = 3 })
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.CallLimit) {
		t.Errorf("Run = %v; want call_limit", err)
	}
	if n := len(server.Requests()); n != 3 {
		t.Errorf("the provider received %d requests; want 3", n)
	}
}

// If a tool does not await its calls, the Result must contain a warning.
func TestUnawaitedCalls(t *testing.T) { everywhere(t, testUnawaitedCalls) }

func testUnawaitedCalls(t *testing.T) {
	h, server := openModelTool(t, ask+`ask("x"); return 1`)
	result, err := run(h, host.Invocation{})
	if err != nil || !strings.Contains(fmt.Sprint(result.Warnings), "did not await 1 external call") || len(server.Requests()) != 0 {
		t.Errorf("Run = %+v, %v, %d requests; want a warning and no request", result, err, len(server.Requests()))
	}
}

// TestSoakWaiters starts 200 runs of one tenant. The 200 runs wait for a model. Meanwhile, the runs
// of another tenant must finish. In a soak test, the test also compares the latency of the other
// tenant's runs with their latency on an idle host.
func TestSoakWaiters(t *testing.T) {
	if os.Getenv("TOOLRUN_SOAK") != "" {
		testWaiters(t, 30*time.Second)
		return
	}
	testWaiters(t, 0)
}

// In testWaiters, the runs of one tenant wait while another tenant runs a tool. If the argument
// atLeast is not 0, the runs wait at least for this duration, and the test compares latencies.
func testWaiters(t *testing.T, atLeast time.Duration) {
	const waiters = 200
	gate, with := newGate(t, admission.Limits{Running: 4, Parked: 2 * waiters, ParkedPerTenant: 2 * waiters, ParkedPerApp: 2 * waiters, ParkedPerUser: waiters})
	h, server := openModelTool(t, ask+`
		const notes = await memory.get_content("notes");
		if ($ask) await ask("hello " + $n);
		await memory.set_content("notes", {n: (notes?.n ?? 0) + 1});
		return 1`, with, declareInputs, inProcess)
	other := host.Caller{Tenant: "other", User: "bob"}
	// There are several rounds, and the best round is compared, because other programs can disturb
	// a round.
	minRounds := 5
	if atLeast == 0 {
		minRounds = 1
	}
	latency := func(enough time.Duration) time.Duration {
		best := time.Hour
		for round := 0; round < minRounds || round < 30 && best > enough; round++ {
			var took []time.Duration
			for range 200 {
				began := time.Now()
				if _, err := run(h, host.Invocation{Caller: other, Input: []byte(`{"ask": false, "n": 0}`)}); err != nil {
					t.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			best = min(best, p99(took))
		}
		return best
	}
	latency(time.Hour) // compiles the tool
	idle := latency(time.Hour)
	release := server.Hold()
	defer release()
	var all sync.WaitGroup
	var mu sync.Mutex
	attempts := 0
	for i := range waiters {
		all.Go(func() {
			inv := host.Invocation{Caller: host.Caller{Tenant: "busy", User: "u" + itoa(i%4)}, Input: []byte(fmt.Sprintf(`{"ask": true, "n": %d}`, i))}
			result, err := run(h, inv)
			mu.Lock()
			defer mu.Unlock()
			if attempts += result.Attempts; err != nil {
				t.Errorf("run %d: %v", i, err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := server.Await(ctx, waiters); err != nil {
		t.Fatal(err)
	}
	if n := gate.Parked(); n != waiters {
		t.Errorf("%d runs are parked; want %d", n, waiters)
	}
	limit := time.Hour
	if atLeast > 0 {
		limit = max(2*idle, idle+time.Millisecond)
	}
	answered := time.After(atLeast)
	busy := latency(limit)
	for waiting := atLeast > 0; waiting; {
		select {
		case <-answered:
			waiting = false
		default:
			busy = min(busy, latency(limit))
		}
	}
	t.Logf("p99 of the other tenant: %s on an idle host, with %d waiting runs %s", idle, waiters, busy)
	if busy > limit {
		t.Errorf("p99 = %s with %d waiting runs; want at most %s (%s on an idle host)", busy, waiters, limit, idle)
	}
	release()
	all.Wait()
	if attempts <= waiters {
		t.Errorf("%d attempts of %d runs; want conflicts", attempts, waiters)
	}
	for key, n := range server.Keys() {
		if n != 1 {
			t.Errorf("the request %s was made %d times; want once", key, n)
		}
	}
	if n := len(server.Requests()); n != waiters {
		t.Errorf("the provider received %d requests; want %d", n, waiters)
	}
}
