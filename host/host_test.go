package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func itoa(n int) string { return strconv.Itoa(n) }

func sessionStart(metadata json.RawMessage) session.Start {
	return session.Start{Metadata: metadata}
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

// openTool opens a host for an app with one tool named "tool", which has the given source.
func openTool(t *testing.T, source string, change ...func(*host.Options)) *host.Host {
	t.Helper()
	return openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(strings.ReplaceAll(testApp, "TOOL", "tool"))},
		"tool.js":  {Data: []byte(source)},
	}, change...)
}

var ann = host.Caller{User: "ann"}

func run(h *host.Host, inv host.Invocation) (*report.Result, error) {
	if inv.Tool == "" {
		inv.Tool = "tool"
	}
	if inv.Caller == (host.Caller{}) {
		inv.Caller = ann
	}
	return h.Run(context.Background(), inv)
}

func TestRunAnswersAndRemembers(t *testing.T) { everywhere(t, testRunAnswersAndRemembers) }

func testRunAnswersAndRemembers(t *testing.T) {
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

func TestFaults(t *testing.T) { everywhere(t, testFaults) }

func testFaults(t *testing.T) {
	tests := []struct {
		name, source string
		inv          host.Invocation
		code         abi.Code
	}{
		{"unknown tool", ``, host.Invocation{Tool: "nope"}, abi.NotFound},
		{"input does not fit the schema", `return 1`, host.Invocation{Input: json.RawMessage(`{"n":"x"}`)}, abi.InputInvalid},
		{"input is not an object", `return 1`, host.Invocation{Input: json.RawMessage(`[1]`)}, abi.InputInvalid},
		{"context is not an object", `return 1`, host.Invocation{Context: json.RawMessage(`1`)}, abi.InputInvalid},
		{"output does not fit the schema", `return [1]`, host.Invocation{}, abi.OutputInvalid},
		{"throws", `throw new Error("boom")`, host.Invocation{}, abi.ToolError},
		{"an uncaught memory fault", `await memory.get_content("nope")`, host.Invocation{}, abi.NotFound},
		{"a fault raised by the guest", `const e = new Error("x"); e.name = "MemoryAccessError"; e.code = "conflict"; throw e`, host.Invocation{}, abi.ToolError},
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
				t.Error("the result contains the fault's internal id")
			}
		})
	}
}

func TestAFailedRunStoresNothing(t *testing.T) { everywhere(t, testAFailedRunStoresNothing) }

func testAFailedRunStoresNothing(t *testing.T) {
	h := openTool(t, `
		await memory.set_content("notes", {a: 1});
		await memory.set_content("totals", {a: 1});
		if (input.fail) throw new Error("no");`)
	if _, err := run(h, host.Invocation{Input: json.RawMessage(`{"fail":true}`)}); !errors.Is(err, abi.ToolError) {
		t.Fatalf("Run = %v; want tool_error", err)
	}
	for _, store := range []string{`"notes"`, `"totals"`} {
		got, _, err := h.Stores().Do(context.Background(), ann, memory.Operator(), abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(store)}})
		if err != nil || string(got) != "null" {
			t.Errorf("%s = %s, %v; want null", store, got, err)
		}
	}
}

func TestAForgottenAwaitFailsTheRun(t *testing.T) { everywhere(t, testAForgottenAwaitFailsTheRun) }

func testAForgottenAwaitFailsTheRun(t *testing.T) {
	h := openTool(t, `memory.set_content("sessionMeta", {a: 1}); return "saved"`)
	if result, err := run(h, host.Invocation{}); !errors.Is(err, abi.ReadOnly) {
		t.Fatalf("Run = %s, %v; want read_only", result.Output, err)
	}
}

func TestIdempotencyKey(t *testing.T) { everywhere(t, testIdempotencyKey) }

func testIdempotencyKey(t *testing.T) {
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

// If a request conflicts with an earlier request, the fault must list the parts that differ.
// TestIdempotencyConflict checks that the fault does so and contains no values. If a secret in the
// environment has changed, a retry must nevertheless succeed.
func TestIdempotencyConflict(t *testing.T) {
	h := openTool(t, `return 1`)
	first := func() host.Invocation {
		return host.Invocation{
			Tool: "node", Key: "k", Code: &host.AdHocTool{Language: "javascript", Text: "return 1"}, Caller: host.Caller{User: "ann", Session: "s1"},
			Input: json.RawMessage(`{"a":1}`), Context: json.RawMessage(`{"c":1}`), Metadata: json.RawMessage(`{"m":1}`), Env: map[string]string{"TOKEN": "old"},
		}
	}
	if _, err := run(h, first()); err != nil {
		t.Fatal(err)
	}
	retry := first()
	retry.Env = map[string]string{"TOKEN": "new"}
	if result, err := run(h, retry); err != nil || !result.Repeated {
		t.Errorf("a retry with another secret = %+v, %v; want the first result", result, err)
	}
	for want, change := range map[string]func(*host.Invocation){
		"tool": func(i *host.Invocation) { i.Tool = "other_node" },
		"code": func(i *host.Invocation) { i.Code.Text = "return 'secret'" },
		"grants": func(i *host.Invocation) {
			i.Code.Grants = []declare.Grant{{Store: "notes", Verbs: []abi.Verb{abi.Read}}}
		},
		"input":         func(i *host.Invocation) { i.Input = json.RawMessage(`{"a":"secret"}`) },
		"context":       func(i *host.Invocation) { i.Context = json.RawMessage(`{"c":"secret"}`) },
		"code, context": func(i *host.Invocation) { i.Context, i.Code.Text = nil, "return 2" },
		"metadata":      func(i *host.Invocation) { i.Metadata = json.RawMessage(`{"m":"secret"}`) },
	} {
		inv := first()
		change(&inv)
		_, err := run(h, inv)
		if f := abi.FaultOf(err); f.Code != abi.Conflict || !strings.HasSuffix(f.Message, "differs in "+want) || strings.Contains(f.Error(), "secret") {
			t.Errorf("another %s = %v; want a conflict that names it", want, err)
		}
	}
}

func TestLogsAreBounded(t *testing.T) { everywhere(t, testLogsAreBounded) }

func testLogsAreBounded(t *testing.T) {
	h := openTool(t, `for (let i = 0; i < 1100; i++) console.log(i)`)
	result, err := run(h, host.Invocation{Timeout: time.Minute})
	if err != nil || len(result.Logs) != 1001 || !strings.HasSuffix(result.Logs[1000].Text, "can log at most 1000 lines and 64KiB") {
		t.Fatalf("%d lines, %v; want 1000 and a truncation line", len(result.Logs), err)
	}
}

// watcher is an observer that refuses runs, counts runs, and writes records.
type watcher struct {
	host.NopObserver
	refuse error
	calls  int
	after  func(memory host.Memory) error
	done   []*report.Result
}

func (w *watcher) BeforeRun(context.Context, host.RunInfo) error { return w.refuse }

func (w *watcher) AfterRun(_ context.Context, _ host.RunInfo, _ json.RawMessage, m host.Memory) error {
	if w.after == nil {
		return nil
	}
	return w.after(m)
}

func (w *watcher) MemoryCalled(context.Context, host.RunInfo, host.CallEvent) { w.calls++ }

func (w *watcher) RunEnded(_ context.Context, _ host.RunInfo, r *report.Result) {
	w.done = append(w.done, r)
}

func TestObservers(t *testing.T) { everywhere(t, testObservers) }

func testObservers(t *testing.T) {
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

// An observer can write to a store that is not granted to the tool.
func TestAnObserverNeedsNoGrant(t *testing.T) { everywhere(t, testAnObserverNeedsNoGrant) }

func testAnObserverNeedsNoGrant(t *testing.T) {
	w := &watcher{after: func(m host.Memory) error {
		_, err := m.Call(context.Background(), abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"totals"`), json.RawMessage(`{"runs":1}`)}})
		return err
	}}
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: a\nmemory:\n  totals: {access: application}\ntools:\n  tool: {source: tool.js, description: nothing}\n")},
		"tool.js":  {Data: []byte(`return 1`)},
	}, func(o *host.Options) { o.Observers = []host.Observer{w} })
	if result, err := run(h, host.Invocation{}); err != nil || len(result.Effects.Writes) != 1 {
		t.Errorf("Run = %+v, %v; want the observer's write", result, err)
	}
}

// If the API is used incorrectly, the error describes the mistake.
func TestMistakesOfTheEmbedder(t *testing.T) {
	opts := host.Options{App: &app.App{ID: "test"}, Backend: mem.New()}
	for _, limits := range []any{&opts.Limits, &opts.Memory} {
		fields := reflect.ValueOf(limits).Elem()
		for i := range fields.NumField() {
			fields.Field(i).SetInt(-1)
			name := fields.Type().Field(i).Name
			if _, err := host.Open(context.Background(), opts); err == nil || !strings.Contains(err.Error(), "Limits."+name+" is negative") {
				t.Errorf("Open with a negative %s = %v; want an error that names it", name, err)
			}
			fields.Field(i).SetInt(0)
		}
	}

	for field, opts := range map[string]host.Options{"App": {Backend: mem.New()}, "Backend": {App: &app.App{ID: "test"}}} {
		if _, err := host.Open(context.Background(), opts); err == nil || !strings.Contains(err.Error(), "Options."+field+" is nil") {
			t.Errorf("Open without %s = %v; want an error that names it", field, err)
		}
	}
	bare := openTool(t, `return 1`, func(o *host.Options) { o.Engines = nil })
	if result, err := run(bare, host.Invocation{}); !errors.Is(err, abi.SourceInvalid) || !strings.Contains(result.Error.Hint, "Options.Engines") {
		t.Errorf("Run without engines = %+v, %v; want a hint at Options.Engines", result.Error, err)
	}

	h := openTool(t, `return 1;`)
	var none context.Context
	if result, err := h.Run(none, host.Invocation{Tool: "tool"}); !errors.Is(err, abi.InvalidArgument) || result == nil || result.OK {
		t.Errorf("Run(nil) = %+v, %v; want invalid_argument", result, err)
	}
	if _, err := h.Stores().Purge(context.Background(), ann, ""); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Purge without a store = %v; want invalid_argument", err)
	}
	for _, caller := range []host.Caller{ann, {User: "ann", Session: "s1"}} {
		for _, inv := range []host.Invocation{{SessionReference: "\xff"}, {UserReference: "\xff"}} {
			inv.Caller = caller
			if _, err := run(h, inv); !errors.Is(err, abi.InvalidArgument) {
				t.Errorf("Run for %+v with references %q, %q = %v; want invalid_argument", caller, inv.SessionReference, inv.UserReference, err)
			}
		}
	}
	if _, err := h.Sessions().Start(context.Background(), ann, session.Start{Reference: "\xff"}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("StartSession with an invalid UTF-8 reference = %v; want invalid_argument", err)
	}
}

func TestRunAfterClose(t *testing.T) { everywhere(t, testRunAfterClose) }

func testRunAfterClose(t *testing.T) {
	h := openTool(t, `return 1`)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("Run after Close = %v; want unavailable", err)
	}
}

// A tool cannot import files from outside of its own folder. If a tool is a single file, it cannot
// import any files.
func TestImportsStayInTheFolder(t *testing.T) { everywhere(t, testImportsStayInTheFolder) }

func testImportsStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("outside.json", `{"k":"TOPSECRET"}`)
	write("app/two/tool.json", `{"description":"two","env":{"KEY":"TOPSECRET"}}`)
	write("app/two/main.js", `return 1`)
	for name, target := range map[string]string{"up": "../../outside.json", "far": filepath.Join(dir, "outside.json"), "other": "../two/tool.json"} {
		write("app/"+name+"/main.js", `import s from "./l.json"; export default () => s`)
		write("app/"+name+"/tool.json", `{"description":"reads a link"}`)
		link(target, "app/"+name+"/l.json")
	}
	write("app/inside/main.js", `import s from "./l.json"; export default () => s`)
	write("app/inside/tool.json", `{"description":"reads a link"}`)
	write("app/inside/real/data.json", `{"k":"fine"}`)
	link("real/data.json", "app/inside/l.json")
	write("app/one.js", `import s from "./two/tool.json"; export default () => s`)
	write("app/app.yaml", "app: a\ntools:\n  up: {source: up}\n  far: {source: far}\n  other: {source: other}\n  inside: {source: inside}\n  one: {source: one.js, description: one}\n")
	loaded, problems := app.Load(os.DirFS(filepath.Join(dir, "app")), "app.yaml")
	if loaded == nil {
		t.Fatal(problems)
	}
	h, err := host.Open(context.Background(), host.Options{App: loaded, Backend: mem.New(), Engines: testEngines(), SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, tool := range []string{"up", "far", "other", "one"} {
		result, err := run(h, host.Invocation{Tool: tool})
		text, _ := json.Marshal(result)
		if !errors.Is(err, abi.SourceInvalid) || strings.Contains(string(text), "SECRET") || strings.Contains(string(text), dir) {
			t.Errorf("%s = %s; want source_invalid, without content or paths of the host", tool, text)
		}
	}
	if result, err := run(h, host.Invocation{Tool: "inside"}); err != nil || string(result.Output) != `{"k":"fine"}` {
		t.Errorf("a link inside the folder = %s, %v; want it followed", result.Output, err)
	}
}

// If a guest replaces functions that the prelude uses, no other run is affected.
func TestPoisonedIntrinsics(t *testing.T) { everywhere(t, testPoisonedIntrinsics) }

func testPoisonedIntrinsics(t *testing.T) {
	tests := map[string]string{
		"endless arguments": `Array.prototype.fill = function () { return { length: 2 ** 53 } }; await memory.get_content({ store: "notes" })`,
		"endless random bytes": `let n = 0; ArrayBuffer.isView = () => true;
			crypto.getRandomValues({ buffer: new ArrayBuffer(4), byteOffset: 0, get byteLength() { return n++ < 2 ? 4 : 2e10 } })`,
		"negative random":                         `ArrayBuffer.isView = () => true; globalThis.Uint8Array = function () { return { set() {} } }; crypto.getRandomValues({ byteLength: -1 })`,
		"a rejection while the output is encoded": `return { toJSON() { memory.set_content("sessionMeta", {}); return 1 } }`,
	}
	for name, source := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := run(openTool(t, source), host.Invocation{})
			if errors.Is(err, abi.Internal) || strings.HasPrefix(name, "a rejection") && !errors.Is(err, abi.ReadOnly) {
				t.Errorf("Run = %s, %v", result.Output, err)
			}
		})
	}
}

// If an operator passes a session, it does not need to pass the user of this session.
func TestAnOperatorLooksIntoASession(t *testing.T) {
	h := openApp(t, fstest.MapFS{"app.yaml": {Data: []byte("app: a\nmemory:\n  cart: {access: session}\n")}})
	set := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"cart"`), json.RawMessage(`{"a":1}`)}}
	if _, _, err := h.Stores().Do(context.Background(), host.Caller{User: "ann", Session: "s1"}, memory.Operator(), set); err != nil {
		t.Fatal(err)
	}
	get := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"cart"`)}}
	if got, _, err := h.Stores().Do(context.Background(), host.Caller{Session: "s1"}, memory.Operator(), get); err != nil || string(got) != `{"a":1}` {
		t.Errorf("get = %s, %v; want the cart", got, err)
	}
	if _, _, err := h.Stores().Do(context.Background(), host.Caller{User: "bob", Session: "s1"}, memory.Operator(), get); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("get for another user = %v; want access_denied", err)
	}
}

// An operation has the rights of the Authority that is passed to it, and no other rights. If the
// host performs an operation without an Authority, the operation does not have the rights of an
// operator.
func TestDoHasTheRightsItIsGiven(t *testing.T) {
	h := openApp(t, fstest.MapFS{"app.yaml": {Data: []byte("app: a\nmemory:\n  cart: {access: session}\n")}})
	call := func(op, store string) abi.Call {
		return abi.Call{Op: op, Args: []json.RawMessage{json.RawMessage(strconv.Quote(store)), json.RawMessage(`{"a":1}`)}}
	}
	ann := host.Caller{User: "ann", Session: "s1"}
	if _, _, err := h.Stores().Do(t.Context(), ann, memory.Operator(), call(abi.SetContent, "cart")); err != nil {
		t.Fatal(err)
	}
	reads := memory.Granted([]declare.Grant{{Store: "cart", Verbs: []abi.Verb{abi.Read}}})
	tests := []struct {
		name      string
		caller    host.Caller
		authority memory.Authority
		op, store string
		code      abi.Code
	}{
		{"no rights", ann, memory.Authority{}, abi.GetContent, "cart", abi.NotFound},
		{"no rights", ann, memory.Authority{}, abi.SetContent, "cart", abi.NotFound},
		{"no rights", ann, memory.Authority{}, abi.GetContent, declare.SessionMeta, abi.NotFound},
		{"a grant", ann, reads, abi.GetContent, "cart", ""},
		{"a grant", ann, reads, abi.SetContent, "cart", abi.AccessDenied},
		{"a grant, and another user's session", host.Caller{Session: "s1"}, reads, abi.GetContent, "cart", abi.AccessDenied},
		{"a read-only operator", host.Caller{Session: "s1"}, memory.ReadOnly(memory.Operator()), abi.GetContent, "cart", ""},
		{"a read-only operator", ann, memory.ReadOnly(memory.Operator()), abi.SetContent, "cart", abi.AccessDenied},
	}
	for _, tt := range tests {
		_, _, err := h.Stores().Do(t.Context(), tt.caller, tt.authority, call(tt.op, tt.store))
		if tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
			t.Errorf("%s: %s(%s) = %v; want %q", tt.name, tt.op, tt.store, err, tt.code)
		}
	}
}
