package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
)

func itoa(n int) string { return strconv.Itoa(n) }

func sessionStart(metadata json.RawMessage) memory.SessionStart {
	return memory.SessionStart{Metadata: metadata}
}

const testApp = `
app: test
memory:
  notes: {access: user, description: what was noted}
  totals: {access: application, description: sums}
tools:
  TOOL:
    source: tool.js
    description: the tool under test
    grants: {notes: readwrite, totals: readwrite, sessionMeta: read}
    env: {REGION: eu}
    inputSchema: {type: object, properties: {n: {type: integer}}}
    outputSchema: {type: [object, "null", number, string, boolean]}
`

// openTool opens an app with the one tool "tool" of that source.
func openTool(t *testing.T, source string, change ...func(*host.Options)) *host.Host {
	t.Helper()
	return openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(strings.ReplaceAll(testApp, "TOOL", "tool"))},
		"tool.js":  {Data: []byte(source)},
	}, change...)
}

var ann = host.Caller{User: "ann"}

func run(h *host.Host, inv host.Invocation) (*abi.Result, error) {
	if inv.Tool == "" {
		inv.Tool = "tool"
	}
	if inv.Caller == (host.Caller{}) {
		inv.Caller = ann
	}
	return h.Run(context.Background(), inv)
}

func TestRunAnswersAndRemembers(t *testing.T) {
	h := openTool(t, `
		const seen = await memory.get_content("notes");
		await memory.set_content("notes", {n: (seen?.n ?? 0) + $n});
		console.log("region", context.env.REGION);
		return {before: seen, user: context.userId};`)
	for i, want := range []string{`{"before":null,"user":"ann"}`, `{"before":{"n":2},"user":"ann"}`} {
		result, err := run(h, host.Invocation{Input: json.RawMessage(`{"n":2}`)})
		if err != nil || string(result.Output) != want {
			t.Fatalf("run %d = %s, %v; want %s", i, result.Output, err, want)
		}
		if !result.OK || result.Attempts != 1 || result.Usage.HostCalls != 2 || len(result.Logs) != 1 || result.Logs[0].Text != "region eu" {
			t.Errorf("run %d = %+v", i, result)
		}
		if effects := result.Effects; len(effects.Reads) != 1 || effects.Reads[0].Revision != int64(i) || effects.Writes[0].Revision != int64(i+1) {
			t.Errorf("run %d effects = %+v", i, effects)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name, source string
		inv          host.Invocation
		code         abi.Code
	}{
		{"unknown tool", ``, host.Invocation{Tool: "nope"}, abi.NotFound},
		{"input against the schema", `return 1`, host.Invocation{Input: json.RawMessage(`{"n":"x"}`)}, abi.InputInvalid},
		{"input is no object", `return 1`, host.Invocation{Input: json.RawMessage(`[1]`)}, abi.InputInvalid},
		{"context is no object", `return 1`, host.Invocation{Context: json.RawMessage(`1`)}, abi.InputInvalid},
		{"output against the schema", `return [1]`, host.Invocation{}, abi.OutputInvalid},
		{"throws", `throw new Error("boom")`, host.Invocation{}, abi.ToolError},
		{"memory fault let through", `await memory.get_content("nope")`, host.Invocation{}, abi.NotFound},
		{"a fault made by the guest", `const e = new Error("x"); e.name = "MemoryAccessError"; e.code = "conflict"; throw e`, host.Invocation{}, abi.ToolError},
		{"endless", `for (;;) {}`, host.Invocation{Timeout: 30 * time.Millisecond}, abi.Timeout},
		{"too many calls", `for (let i = 0; i < 2000; i++) { try { await memory.get_content("notes") } catch {} }`, host.Invocation{}, abi.CallLimit},
		{"syntax error", `return (`, host.Invocation{}, abi.SourceInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := openTool(t, tt.source)
			result, err := run(h, tt.inv)
			if !errors.Is(err, tt.code) || result.OK || result.Error.Message == "" {
				t.Fatalf("Run = %+v, %v; want %s", result, err, tt.code)
			}
			if result.Error.ID != "" {
				t.Error("the fault's internal id is in the result")
			}
		})
	}
}

func TestAFailedRunStoresNothing(t *testing.T) {
	h := openTool(t, `
		await memory.set_content("notes", {a: 1});
		await memory.set_content("totals", {a: 1});
		if (input.fail) throw new Error("no");`)
	if _, err := run(h, host.Invocation{Input: json.RawMessage(`{"fail":true}`)}); !errors.Is(err, abi.ToolError) {
		t.Fatalf("Run = %v; want tool_error", err)
	}
	for _, store := range []string{`"notes"`, `"totals"`} {
		got, err := h.Perform(context.Background(), ann, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(store)}})
		if err != nil || string(got) != "null" {
			t.Errorf("%s = %s, %v; want null", store, got, err)
		}
	}
}

func TestAForgottenAwaitFailsTheRun(t *testing.T) {
	h := openTool(t, `memory.set_content("sessionMeta", {a: 1}); return "saved"`)
	if result, err := run(h, host.Invocation{}); !errors.Is(err, abi.ReadOnly) {
		t.Fatalf("Run = %s, %v; want read_only", result.Output, err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	h := openTool(t, `
		const c = await memory.get_content("totals");
		await memory.set_content("totals", {n: (c?.n ?? 0) + 1});
		return (c?.n ?? 0) + 1`)
	for i := range 3 {
		result, err := run(h, host.Invocation{Key: "k1", Input: json.RawMessage(`{"n": 1}`)})
		if err != nil || string(result.Output) != "1" || result.Repeated != (i > 0) {
			t.Fatalf("run %d = %s, repeated %t, %v; want 1", i, result.Output, result.Repeated, err)
		}
	}
	if _, err := run(h, host.Invocation{Key: "k1", Input: json.RawMessage(`{"n":2}`)}); !errors.Is(err, abi.Conflict) {
		t.Errorf("the same key with another input = %v; want conflict", err)
	}
}

func TestLogsAreBounded(t *testing.T) {
	h := openTool(t, `for (let i = 0; i < 5000; i++) console.log(i)`)
	result, err := run(h, host.Invocation{})
	if err != nil || len(result.Logs) != 1001 || !strings.HasPrefix(result.Logs[1000].Text, "log truncated") {
		t.Fatalf("%d lines, %v; want 1000 and a mark", len(result.Logs), err)
	}
}

// watcher is an observer that refuses, counts and writes.
type watcher struct {
	host.NopObserver
	refuse error
	calls  int
	after  func(memory host.Memory) error
	done   []*abi.Result
}

func (w *watcher) BeforeRun(context.Context, host.RunInfo) error { return w.refuse }

func (w *watcher) AfterRun(_ context.Context, _ host.RunInfo, _ json.RawMessage, m host.Memory) error {
	if w.after == nil {
		return nil
	}
	return w.after(m)
}

func (w *watcher) MemoryCalled(context.Context, host.RunInfo, host.CallEvent) { w.calls++ }

func (w *watcher) Committed(_ context.Context, _ host.RunInfo, r *abi.Result) {
	w.done = append(w.done, r)
}

func TestObservers(t *testing.T) {
	w := &watcher{}
	h := openTool(t, `await memory.set_content("notes", {a: 1}); return 7`, func(o *host.Options) { o.Observers = []host.Observer{w} })
	w.refuse = errors.New("not today")
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("a refused run = %v; want access_denied", err)
	}
	w.refuse = nil
	w.after = func(m host.Memory) error {
		_, err := m.Call(context.Background(), abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"totals"`), json.RawMessage(`{"runs":1}`)}})
		return err
	}
	result, err := run(h, host.Invocation{})
	if err != nil || len(result.Effects.Writes) != 2 {
		t.Errorf("Run = %+v, %v; want the tool's write and the observer's", result, err)
	}
	if w.calls != 1 || len(w.done) != 2 || w.done[1] != result {
		t.Errorf("the observer saw %d calls and %d results", w.calls, len(w.done))
	}
}
