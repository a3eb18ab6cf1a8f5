package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// bill is an observer that counts runs for billing and refuses runs that exceed the plan.
type bill struct {
	host.NopObserver
	refuse    error
	requested int
	ended     []host.RunInfo
	cpu       float64
}

func (b *bill) BeforeRun(context.Context, host.RunInfo) error {
	b.requested++
	return b.refuse
}

func (b *bill) RunEnded(_ context.Context, run host.RunInfo, r *report.Result) {
	b.ended = append(b.ended, run)
	if run.Outcome == host.OutcomeExecuted {
		b.cpu += r.Usage.CPUMS
	}
}

// TestOutcomes checks that an observer can distinguish executed runs from all other runs.
func TestOutcomes(t *testing.T) {
	b := &bill{}
	h := openTool(t, `if (input.fail) throw new Error("no"); return 7`, func(o *host.Options) { o.Observers = []host.Observer{b} })
	for _, tt := range []struct {
		name string
		inv  host.Invocation
		no   error
		want host.Outcome
	}{
		{name: "a run", inv: host.Invocation{Tool: "tool", Key: "k"}, want: host.OutcomeExecuted},
		{name: "a repeat", inv: host.Invocation{Tool: "tool", Key: "k"}, want: host.OutcomeRepeated},
		{name: "a failure", inv: host.Invocation{Tool: "tool", Input: json.RawMessage(`{"fail":true}`)}, want: host.OutcomeExecuted},
		{name: "a refusal", inv: host.Invocation{Tool: "tool"}, no: errors.New("over the plan"), want: host.OutcomeRefused},
		{name: "an input that is not an object", inv: host.Invocation{Tool: "tool", Input: json.RawMessage(`7`)}, want: host.OutcomeNotStarted},
		{name: "no such tool", inv: host.Invocation{Tool: "nothing"}, want: host.OutcomeNotStarted},
	} {
		b.refuse = tt.no
		_, _ = h.Run(t.Context(), tt.inv)
		if run := b.ended[len(b.ended)-1]; run.Outcome != tt.want || run.App != h.App().ID {
			t.Errorf("%s: outcome %q, app %q; want %q, %q", tt.name, run.Outcome, run.App, tt.want, h.App().ID)
		}
	}
}

// TestRefusedRunsCompileNothing checks that the host calls BeforeRun before it compiles the tool.
func TestRefusedRunsCompileNothing(t *testing.T) {
	b := &bill{refuse: abi.Faultf(abi.QuotaExceeded, "over the plan")}
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: a\ntools:\n  tool: {source: tool.js, description: nothing}\n")},
		"tool.js":  {Data: []byte("return (")},
	}, func(o *host.Options) { o.Observers = []host.Observer{b} })
	for _, inv := range []host.Invocation{
		{Tool: "tool"}, {Tool: "code", Code: &host.AdHocTool{Language: "javascript", Text: "return ("}},
	} {
		if _, err := h.Run(t.Context(), inv); !errors.Is(err, abi.QuotaExceeded) {
			t.Errorf("a refused run of a tool that does not compile = %v; want quota_exceeded", err)
		}
	}
	if b.requested != 2 {
		t.Errorf("BeforeRun was called %d times; want 2", b.requested)
	}
}

// If the context of a run ends, the error of the run must wrap the error of the context.
func TestRunEndsWithItsContext(t *testing.T) {
	h := openTool(t, `while (true) {}`)
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := h.Run(late, host.Invocation{Tool: "tool"})
	if !errors.Is(err, abi.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run with a deadline = %v; want timeout, and the error of the context", err)
	}
	if _, ok := errors.AsType[*abi.Fault](err); !ok {
		t.Errorf("Run with a deadline = %T; want an error that wraps a fault", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Run(cancelled, host.Invocation{Tool: "tool"}); !errors.Is(err, abi.Cancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a cancelled context = %v; want cancelled, and the error of the context", err)
	}
	_, err = h.Run(t.Context(), host.Invocation{Tool: "tool", Timeout: 20 * time.Millisecond})
	if !errors.Is(err, abi.Timeout) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run over its own limit = %v; want timeout, and no error of the context", err)
	}
}

// TestOpenRefusesClosedFiles closes the folder of an app before the host is opened. Open must
// return an error. In a program, a misplaced defer statement can close the folder in the same way.
func TestOpenRefusesClosedFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"app.yaml": "app: a\ntools:\n  tool: {source: tool.js, description: nothing}\n", "tool.js": "return 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	loaded, problems := app.Load(root.FS(), "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	opts := host.Options{App: loaded, Backend: mem.New(), Engines: testEngines()}
	h, err := host.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("Open of an app whose files are open = %v", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = host.Open(t.Context(), opts)
	if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != abi.InvalidArgument || !strings.Contains(f.Hint, "Host.Close") || strings.Contains(f.Error(), dir) {
		t.Errorf("Open of an app whose files are closed = %v; want invalid_argument and a hint", err)
	}
}
