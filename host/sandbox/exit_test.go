//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// The constant "short" is the deadline of runs that would otherwise never end. The constant
// "enough" is the deadline of all other runs.
const (
	short  = 100 * time.Millisecond
	enough = 30 * time.Second
)

// roomy contains a memory limit that is sufficient for the largest possible stack, even under the
// race detector.
var roomy = engine.Input{Limits: engine.Limits{MemoryBytes: 512 << 20}}

// bench is a pool with one worker that runs the probe engine.
type bench struct {
	pool *sandbox.Pool
	log  lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

func newBench(t testing.TB, o sandbox.Options) *bench {
	b := &bench{}
	o.Logger = slog.New(slog.NewTextHandler(&b.log, nil))
	if o.Workers == 0 {
		o.Workers = 1
	}
	b.pool = newPool(t, o)
	return b
}

// load compiles the source of an act of the probe engine.
func (b *bench) load(t testing.TB, act, domain string) engine.Program {
	t.Helper()
	program, err := b.pool.Engines()[probing].Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte(act), Domain: domain})
	if err != nil {
		t.Fatalf("Load(%s) = %v", act, err)
	}
	return program
}

// run runs the program of an act with an argument and returns the result.
func (b *bench) run(t testing.TB, act, text string, in engine.Input, limit time.Duration, host engine.Host) (string, error) {
	t.Helper()
	program := b.load(t, act, "")
	defer program.Close()
	return perform(t, program, text, in, limit, host)
}

func perform(t testing.TB, program engine.Program, text string, in engine.Input, limit time.Duration, host engine.Host) (string, error) {
	t.Helper()
	var err error
	if in.Input, err = json.Marshal(map[string][]byte{"text": []byte(text)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := program.Run(ctx, in, host)
	var got string
	if err == nil {
		err = json.Unmarshal(out.Output, &got)
	}
	return got, err
}

// TestDeath ends workers in all known ways. If a worker exits, only the run in this worker may be
// affected. The fault of the affected run must contain the cause. The next run must succeed.
func TestDeath(t *testing.T) {
	tests := []struct {
		act    string
		text   string
		in     engine.Input
		limit  time.Duration
		want   abi.Code
		logged string // the log must contain this text; "" means an empty log
	}{
		{act: "spin", limit: short, want: abi.Timeout},
		{act: "spin hard", limit: short, want: abi.Timeout},
		{act: "swell", limit: enough, want: abi.MemoryLimit},
		{act: "nest", limit: enough, in: roomy, want: abi.StackLimit},
		{act: "burn", limit: enough, in: engine.Input{Limits: engine.Limits{CPU: short}}, want: abi.Timeout},
		{act: "cry", limit: enough, want: ""},
		{act: "crash", limit: enough, want: abi.Internal, logged: "a bug of the engine"},
		{act: "exit", limit: enough, want: abi.Internal, logged: "exit status 0"},
		{act: "say", text: "\xff\xff\xff\xff\x09", limit: enough, want: abi.Internal, logged: "4294967295 bytes"},
		{act: "say", text: "\xff\xff\xff\xff\x07", limit: enough, want: abi.Internal, logged: "4294967295 bytes"},
		{act: "say", text: "\x01\x00\x00\x00\x00x", limit: enough, want: abi.Internal, logged: "kind 0"},
		{act: "say", text: "\x01\x00\x00\x00\x01x", limit: enough, want: abi.Internal, logged: "kind 1"},
		{act: "say", text: "\x01\x00\x00\x00\xc8x", limit: enough, want: abi.Internal, logged: "kind 200"},
		{act: "say", text: "\x02\x00\x00\x00\x07\x01\xff", limit: enough, want: abi.Internal, logged: "read call"},
		{act: "say", text: "\x08\x00\x00\x00\x07\x01x\x01\x03{}xy", limit: enough, want: abi.Internal, logged: "read call"},
		{act: "say", text: "\x06\x00\x00\x00\x0a\x00\x00\x01{\x00\x00\x00", limit: enough, want: abi.Internal, logged: ""},
		{act: "say", text: "\x04\x00", limit: short, want: abi.Timeout}, // the frame never ends
		{act: "say", text: "\xff\xff\x00\x00\x07half of a call", limit: short, want: abi.Timeout},
		{act: "say for ever", text: "\x04\x00\x00\x00\x09\x01x\x01y", limit: enough, want: abi.Internal, logged: "too many log lines"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %q", tt.act, tt.text), func(t *testing.T) {
			b := newBench(t, sandbox.Options{})
			_, err := b.run(t, tt.act, tt.text, tt.in, tt.limit, engine.Host{})
			if got := codeOf(err); got != tt.want {
				t.Errorf("Run = %v; want %s", err, tt.want)
			}
			if logged := b.log.text(); !strings.Contains(logged, tt.logged) || tt.want != abi.Internal && strings.Contains(logged, "died") {
				t.Errorf("log = %s; want %q", logged, tt.logged)
			}
			if got, err := b.run(t, "answer", "", engine.Input{}, enough, engine.Host{}); got != "done" {
				t.Errorf("the next run = %q, %v; want done", got, err)
			}
		})
	}
}

// TestProcessorTimeHint checks the hint of a run that exceeded a limit. The hint must contain the
// exceeded limit.
func TestProcessorTimeHint(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	_, err := b.run(t, "burn", "", engine.Input{Limits: engine.Limits{CPU: short}}, enough, engine.Host{})
	if f, ok := errors.AsType[*abi.Fault](err); !ok || !strings.Contains(f.Hint, "limits.cpu") {
		t.Errorf("Run = %+v; want a hint at limits.cpu", err)
	}
}

func codeOf(err error) abi.Code {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f.Code
	}
	if err != nil {
		return abi.Code(err.Error())
	}
	return ""
}

// TestDeathOfCompiler is like TestDeath, but the workers compile.
func TestDeathOfCompiler(t *testing.T) {
	for act, want := range map[string]abi.Code{
		"compile for ever": abi.Timeout, "compile bomb": abi.MemoryLimit, "compile nesting": abi.StackLimit,
		"compile crash": abi.Internal, "no such act": abi.SourceInvalid,
	} {
		t.Run(act, func(t *testing.T) {
			b := newBench(t, sandbox.Options{LoadBytes: roomy.Limits.MemoryBytes})
			limit := enough
			if want == abi.Timeout {
				limit = short
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, err := b.pool.Engines()[probing].Load(ctx, engine.Source{Path: "act.probe", Code: []byte(act)})
			if got := codeOf(err); got != want {
				t.Errorf("Load = %v; want %s", err, want)
			}
			if got, err := b.run(t, "answer", "", engine.Input{}, enough, engine.Host{}); got != "done" {
				t.Errorf("the next run = %q, %v; want done", got, err)
			}
		})
	}
}

// TestFloods runs a guest that sends log lines and memory calls as fast as possible.
func TestFloods(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	lines, calls := 0, 0
	errStop := errors.New("enough")
	host := engine.Host{
		Log: func(abi.Level, string) error { lines++; return nil },
		Call: func(context.Context, abi.Call) (json.RawMessage, error) {
			if calls++; calls > 1000 {
				return nil, errStop
			}
			return json.RawMessage("null"), nil
		},
	}
	if _, err := b.run(t, "flood logs", "", engine.Input{}, short, host); codeOf(err) != abi.Timeout {
		t.Errorf("Run = %v; want timeout", err)
	}
	if want := engine.DefaultLogLines + 1; lines != want {
		t.Errorf("%d log lines reached the host; want %d", lines, want)
	}
	if _, err := b.run(t, "flood calls", "", engine.Input{}, enough, host); err != errStop {
		t.Errorf("Run = %v; want the host's error", err)
	}
	if calls != 1001 {
		t.Errorf("%d calls reached the host; want 1001", calls)
	}
}

// TestLargeCall runs a guest that sends a call. The call exceeds the size limit.
func TestLargeCall(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	called := false
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) { called = true; return nil, nil }}
	if _, err := b.run(t, "call at length", "", roomy, enough, host); codeOf(err) != abi.TooLarge || called {
		t.Errorf("Run = %v, called: %t; want too_large, and no call", err, called)
	}
}

// TestLargeFault checks an error with a long text. The text exceeds the maximum size of a frame.
func TestLargeFault(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	if _, err := b.run(t, "fail at length", "", roomy, enough, engine.Host{}); codeOf(err) != abi.ToolError {
		t.Errorf("Run = %v; want tool_error", err)
	}
}

// TestGrace runs a worker that ends its own run shortly after the deadline. The pool must reuse
// this worker.
func TestGrace(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	spin := b.load(t, "fail in time", "")
	who := b.load(t, "who", "")
	for range 20 { // on a busy machine, the grace period can be too short
		first := whoRuns(t, who, "")
		ctx, cancel := context.WithTimeout(t.Context(), short)
		_, err := spin.Run(ctx, engine.Input{Input: []byte("{}")}, engine.Host{})
		cancel()
		if codeOf(err) != abi.Timeout {
			t.Fatalf("Run = %v; want timeout", err)
		}
		if whoRuns(t, who, "") == first {
			return
		}
	}
	t.Errorf("every worker was killed at its deadline; want a worker that ends its own run\n%s", b.log.text())
}

// whoRuns runs the program "who" for a domain. whoRuns returns the ID of the process that executed
// the program.
func whoRuns(t testing.TB, program engine.Program, domain string) string {
	t.Helper()
	got, err := perform(t, program, "", engine.Input{Domain: domain}, enough, engine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestDomains checks that runs of different domains are executed by different processes.
func TestDomains(t *testing.T) {
	b := newBench(t, sandbox.Options{Idle: 10})
	one, two := b.load(t, "who", "app one"), b.load(t, "who", "app two")
	seen := map[string]string{}
	for range 3 {
		for name, program := range map[string]engine.Program{"one": one, "two": two} {
			for _, tenant := range []string{"", "a", "b"} {
				domain, pid := name+" "+tenant, whoRuns(t, program, tenant)
				if other := seen[pid]; other != "" && other != domain {
					t.Fatalf("the process %s ran for the domains %q and %q; want different processes", pid, other, domain)
				}
				seen[pid] = domain
			}
		}
	}
}

// TestReuse checks that the pool replaces a worker after the maximum number of runs.
func TestReuse(t *testing.T) {
	b := newBench(t, sandbox.Options{Runs: 3})
	program := b.load(t, "who", "")
	runs := map[string]int{}
	for range 6 {
		runs[whoRuns(t, program, "")]++
	}
	if len(runs) != 2 {
		t.Errorf("runs by process = %v; want 3 and 3", runs)
	}
}

// TestLifetime checks that the pool replaces a worker after the maximum lifetime.
func TestLifetime(t *testing.T) {
	b := newBench(t, sandbox.Options{Lifetime: time.Nanosecond})
	program := b.load(t, "who", "")
	if first := whoRuns(t, program, ""); whoRuns(t, program, "") == first {
		t.Error("the second run used the same worker; want another")
	}
}

// TestIdle checks that the pool keeps the most recently used workers.
func TestIdle(t *testing.T) {
	b := newBench(t, sandbox.Options{Idle: 2})
	program := b.load(t, "who", "")
	first := map[string]string{}
	for _, domain := range []string{"a", "b", "c"} {
		first[domain] = whoRuns(t, program, domain)
	}
	for _, domain := range []string{"c", "b"} {
		if now := whoRuns(t, program, domain); now != first[domain] {
			t.Errorf("worker of %s = %s, after %s; want the same", domain, now, first[domain])
		}
	}
	if now := whoRuns(t, program, "a"); now == first["a"] {
		t.Errorf("worker of a = %s, the same as before; want another worker", now)
	}
}
