package kindtest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/memory/kindtest"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

const countersApp = `
app: shop
memory:
  visits: {kind: counter, access: user, retention: 1_month}
  prefs: {access: user}
tools:
  js: {source: js.js, description: Counts, grants: {visits: readwrite, prefs: readwrite}}
  python: {source: python.py, description: Counts, grants: {visits: readwrite}}
  wasm: {source: wasm.wasm, description: Counts, grants: {visits: readwrite}}
  reader: {source: reader.js, description: Counts, grants: {visits: read}}
`

// plugin returns a plug-in that calls `count_up("visits", "wasm", 2)`. The plug-in uses the generic
// call function of the ABI. The plug-in exits with status 1 if the call fails.
func plugin() []byte {
	const store, name, by = "visits", `"wasm"`, "2"
	m := &wasmtest.Module{Pages: 1}
	count := m.Import("memory."+kindtest.CountUp, 6)
	m.Data(16, store+name+by)
	m.Func("toolrun_abi_1", 0)
	code := wasmtest.Call(count, 16, int32(len(store)), 16+int32(len(store)), int32(len(name)), 16+int32(len(store+name)), int32(len(by)))
	code = append(append(code, wasmtest.Const(0)...), wasmtest.I32LtS)
	m.Func("toolrun_run", 1, code...)
	return m.Bytes()
}

func files() fstest.MapFS {
	return fstest.MapFS{
		"app.yaml": {Data: []byte(countersApp)},
		"js.js": {Data: []byte(`
			await memory.count_up("visits", "js");
			await memory.count_up({store: "visits", name: "js", by: $by ?? 1});
			if ($also) await memory.set_content("prefs", {seen: true});
			if ($fail) throw new Error("no");
			return memory.get_count("visits", "js");`)},
		"python.py": {Data: []byte(`
memory.count_up("visits", "python", by=3)
return [memory.get_count("visits", "python"), memory.list_counts("visits")]
`)},
		"wasm.wasm": {Data: plugin()},
		"reader.js": {Data: []byte(`return memory.count_up("visits", "js")`)},
	}
}

// open opens the app on a backend. The kind Counters is also registered.
func open(t *testing.T, backend storage.Backend, changes ...func(*host.Options)) *host.Host {
	t.Helper()
	options := host.Options{Backend: backend, Kinds: []kind.Kind{kindtest.Counters{}}, Ledger: time.Hour}
	return openHost(t, files(), options, changes...)
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEngines runs tools in worker processes. TestEngines calls the operations of the kind from
// JavaScript, from a plug-in and from Python.
func TestEngines(t *testing.T) {
	h := open(t, mem.New(), inWorkers(t))
	for _, tt := range []struct{ tool, output, effects string }{
		{"js", `{"count":2}`, `{"reads":[{"store":"visits","item":"js","revision":0}],"writes":[{"store":"visits","item":"js","revision":1,"op":"set"}]}`},
		{"wasm", `null`, `{"reads":[],"writes":[{"store":"visits","item":"wasm","revision":1,"op":"set"}]}`},
		{"python", `[{"count":3},{"js":2,"python":3,"wasm":2}]`, ""},
	} {
		result := run(t, h, host.Invocation{Tool: tt.tool})
		var output any
		if err := json.Unmarshal(result.Output, &output); err != nil {
			t.Fatal(err)
		}
		if got := text(t, output); got != tt.output {
			t.Errorf("%s = %s; want %s", tt.tool, got, tt.output)
		}
		if got := text(t, result.Effects); tt.effects != "" && got != tt.effects {
			t.Errorf("effects of %s = %s; want %s", tt.tool, got, tt.effects)
		}
	}
	other := run(t, h, host.Invocation{Tool: "python", Caller: host.Caller{User: "bob"}})
	if !strings.Contains(strings.Join(strings.Fields(string(other.Output)), ""), `{"python":3}`) {
		t.Errorf("bob's counters are %s; want his own only", other.Output)
	}
}

// TestTransaction checks that one transaction can contain changes of counters and documents.
func TestTransaction(t *testing.T) {
	h := open(t, mem.New())
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "js", Caller: ann, Input: json.RawMessage(`{"also":true,"fail":true}`)}); err == nil {
		t.Fatal("Run succeeded; want a fault")
	}
	dry := run(t, h, host.Invocation{Tool: "js", Input: json.RawMessage(`{"also":true}`), DryRun: true})
	want := `[{"store":"visits","item":"js","before":null,"after":{"count":2}},{"store":"prefs","before":null,"after":{"seen":true}}]`
	if got := text(t, dry.Changes); got != want {
		t.Errorf("changes = %s; want %s", got, want)
	}
	if got := text(t, run(t, h, host.Invocation{Tool: "js", Input: json.RawMessage(`{"also":true}`)}).Output); got != `{"count":2}` {
		t.Errorf("output = %s; want the first count", got)
	}
}

// TestDelete deletes one of several counters. The other counters must remain.
func TestDelete(t *testing.T) {
	h := open(t, mem.New())
	run(t, h, host.Invocation{Tool: "js"})
	run(t, h, host.Invocation{Tool: "wasm"})
	operate := func(op string, args ...string) (string, report.Effects) {
		t.Helper()
		call := abi.Call{Op: op, Args: []json.RawMessage{json.RawMessage(`"visits"`)}}
		for _, arg := range args {
			call.Args = append(call.Args, json.RawMessage(arg))
		}
		reply, effects, err := h.Stores().Do(t.Context(), ann, memory.Operator(), call)
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		return string(reply), effects
	}
	if _, effects := operate(kindtest.ResetCount, `"js"`); text(t, effects) != `{"reads":[],"writes":[{"store":"visits","item":"js","revision":0,"op":"delete"}]}` {
		t.Errorf("effects of a reset = %s", text(t, effects))
	}
	list, effects := operate(kindtest.ListCounts)
	if list != `{"wasm":2}` || text(t, effects.Reads) != `[{"store":"visits","item":"wasm","revision":1}]` {
		t.Errorf("the counters are %s, with the reads %s; want wasm only", list, text(t, effects.Reads))
	}
}

// TestPhantom executes a run that lists counters. During the run, another run adds a counter. The
// test checks that the first run is executed again.
func TestPhantom(t *testing.T) {
	service, err := memory.New(memory.Config{
		App: "shop", Backend: mem.New(), Kinds: []kind.Kind{kindtest.Counters{}},
		Stores: []declare.Store{{Name: "visits", Kind: "counter", Access: declare.ScopeApplication}, {Name: "total", Access: declare.ScopeApplication}},
	})
	if err != nil {
		t.Fatal(err)
	}
	store := json.RawMessage(`"visits"`)
	tx := memory.Tx{Caller: partition.Caller{Tenant: "acme", Run: "run_1"}, Authority: memory.Operator()}
	var seen []string
	done, err := service.Transact(t.Context(), &tx, func(ctx context.Context, v *memory.View) error {
		counts, err := v.Call(ctx, abi.Call{Op: kindtest.ListCounts, Args: []json.RawMessage{store}})
		if err != nil {
			return err
		}
		if seen = append(seen, string(counts)); len(seen) == 1 {
			count := abi.Call{Op: kindtest.CountUp, Args: []json.RawMessage{store, json.RawMessage(`"new"`)}}
			if _, _, err := service.Do(ctx, partition.Caller{Tenant: "acme", Run: "run_2"}, memory.Operator(), count); err != nil {
				return err
			}
		}
		_, err = v.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"total"`), counts}})
		return err
	})
	if err != nil || done.Attempts != 2 || strings.Join(seen, " ") != `{} {"new":1}` {
		t.Errorf("Transact = %d attempts, %v; they saw %q; want 2 attempts: the first sees no counter, and the second sees one", done.Attempts, err, seen)
	}
}

// TestFaults checks the faults of grants, of the registry and of the kind. The faults must contain
// the item.
func TestFaults(t *testing.T) {
	h := open(t, mem.New())
	fault := func(inv host.Invocation) *abi.Fault {
		t.Helper()
		if inv.Caller == (host.Caller{}) {
			inv.Caller = ann
		}
		_, err := h.Run(t.Context(), inv)
		f, ok := errors.AsType[*abi.Fault](err)
		if !ok {
			t.Fatalf("Run = %v; want a fault", err)
		}
		return f
	}
	if f := fault(host.Invocation{Tool: "reader"}); f.Code != abi.AccessDenied || f.Op != kindtest.CountUp {
		t.Errorf("count_up by a tool that may only read = %v", f)
	}
	if f := fault(host.Invocation{Tool: "js", Input: json.RawMessage(`{"by":5000}`)}); f.Code != abi.TooLarge || f.Store != "visits" || f.Item != "js" {
		t.Errorf("a count that is too large = %+v; want too_large on visits, js", f)
	}
	anonymous := &host.AdHocTool{Language: "javascript", Text: `return memory.get_count("visits", "js")`, Grants: []declare.Grant{{Store: "visits", Verbs: []abi.Verb{abi.Read}}}}
	_, err := h.Run(t.Context(), host.Invocation{Tool: "code", Code: anonymous})
	if !errors.Is(err, abi.NoUser) {
		t.Errorf("a user's counter without a user = %v; want no_user", err)
	}
	forged := &host.AdHocTool{Language: "javascript", Grants: []declare.Grant{{Store: "visits", Verbs: []abi.Verb{abi.Write}}},
		Text: `try { await memory.count_up("visits", "js", 5000) } catch (e) { e.message = e.item; e.item = "forged"; throw e }`}
	if f := fault(host.Invocation{Tool: "code", Code: forged}); f.Item != "js" || !strings.Contains(f.Message, "maximum of the counter") {
		t.Errorf("a fault that the tool changed = %+v; want the one that memory raised", f)
	}
	for _, tt := range []struct{ op, store, name, want string }{
		{abi.GetContent, "visits", `null`, "of kind counter does not support the operation get_content"},
		{kindtest.GetCount, "prefs", `"js"`, "of kind document does not support the operation get_count"},
		{kindtest.GetCount, "sessionMeta", `"js"`, "of kind document does not support the operation get_count"},
		{kindtest.GetCount, "visits", `"a\u0000b"`, "at most 512 bytes"},
		{kindtest.GetCount, "visits", `"` + strings.Repeat("a", 513) + `"`, "at most 512 bytes"},
	} {
		call := abi.Call{Op: tt.op, Args: []json.RawMessage{json.RawMessage(`"` + tt.store + `"`), json.RawMessage(tt.name)}}
		_, _, err := h.Stores().Do(t.Context(), ann, memory.Operator(), call)
		if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != abi.InvalidArgument || f.Op != tt.op || !strings.Contains(f.Message, tt.want) {
			t.Errorf("%s of %s = %v; want invalid_argument: %s", tt.op, tt.store, err, tt.want)
		}
	}
}

// TestUserData checks that the ledger, lists and exports contain counters. After an erasure of the
// user, no counters of the user may remain.
func TestUserData(t *testing.T) {
	backend := mem.New()
	h := open(t, backend)
	bob := host.Caller{User: "bob"}
	for _, who := range []host.Caller{ann, bob} {
		run(t, h, host.Invocation{Tool: "wasm", Caller: who})
		run(t, h, host.Invocation{Tool: "js", Caller: who})
	}
	entries, _, _, err := h.Ledger().Entries(t.Context(), host.Caller{}, ledger.Query{Store: "visits", Limit: 10})
	if err != nil || len(entries) != 4 || entries[0].Writes[0].Item != "wasm" {
		t.Errorf("Ledger = %+v, %v; want 4 entries, the first of which wrote wasm", entries, err)
	}
	listed, _, err := h.Stores().List(t.Context(), ann, "visits", "", 10)
	if err != nil || len(listed) != 2 || listed[0].Item != "js" || listed[1].Item != "wasm" || listed[0].Expires == nil {
		t.Errorf("List = %+v, %v; want js and wasm, which expire", listed, err)
	}
	want := `"store":"visits","item":"js","user_id":"ann"`
	if got := export(t, h, ann); strings.Count(got, "\n") != 2 || !strings.Contains(got, want) || !strings.Contains(got, `"content":{"count":2}`) {
		t.Errorf("the export is %s; want two counters", got)
	}
	erased, err := h.Users().Erase(t.Context(), ann)
	if err != nil || erased.Stores["visits"] != 2 || erased.Records != 2 {
		t.Errorf("Erase = %+v, %v; want 2 counters", erased, err)
	}
	if got := export(t, h, ann); got != "" {
		t.Errorf("the export after the erasure is %s", got)
	}
	if got := text(t, run(t, h, host.Invocation{Tool: "js", Caller: bob}).Output); got != `{"count":4}` {
		t.Errorf("bob's counter = %s; want it unchanged", got)
	}
}

// TestLargeEntry checks the ledger entry of a run. The run performs the maximum number of writes to
// items with long names. The entry must fit into a record and must list each store.
func TestLargeEntry(t *testing.T) {
	const writes = txn.MaxWrites - 1 // the document needs one of the allowed writes
	h := open(t, mem.New(), func(o *host.Options) { o.Limits.Calls, o.Limits.Timeout = 2*writes, time.Minute })
	result := run(t, h, host.Invocation{Tool: "code", Code: &host.AdHocTool{Language: "javascript", Text: `
		for (let i = 0; i < ` + strconv.Itoa(writes) + `; i++) await memory.count_up("visits", "<".repeat(500) + i);
		await memory.set_content("prefs", {seen: true});`,
		Grants: []declare.Grant{{Store: "visits", Verbs: []abi.Verb{abi.Write}}, {Store: "prefs", Verbs: []abi.Verb{abi.Write}}},
	}})
	if len(result.Effects.Writes) != writes+1 {
		t.Errorf("the run has %d writes; want %d", len(result.Effects.Writes), writes+1)
	}
	entries, _, _, err := h.Ledger().Entries(t.Context(), host.Caller{}, ledger.Query{Store: "prefs", Limit: 10})
	if err != nil || len(entries) != 1 || len(entries[0].Writes)+entries[0].More != writes+1 {
		t.Fatalf("Entries = %d, %v; want one that counts all writes", len(entries), err)
	}
}

// export returns the records of an export.
func export(t *testing.T, h *host.Host, who host.Caller) string {
	t.Helper()
	var buf bytes.Buffer
	if err := h.Users().Export(t.Context(), who, &buf); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := archive.Open("records.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	records, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(records)
}

// TestChangedKind checks that the kind of a store cannot change if the store has records. If a kind
// is not registered, an export must nevertheless contain the records of the kind.
func TestChangedKind(t *testing.T) {
	backend := mem.New()
	run(t, open(t, backend), host.Invocation{Tool: "wasm"})
	for name, stores := range map[string]string{"a document": "visits: {access: user}", "a removed store": "other: {access: user}"} {
		loaded := load(t, fstest.MapFS{"app.yaml": {Data: []byte("app: shop\nmemory:\n  " + stores + "\n")}})
		h, err := host.Open(t.Context(), host.Options{App: loaded, Backend: backend, SweepEvery: -1})
		if name == "a document" {
			moved, ok := errors.AsType[*memory.ScopeChangedError](err)
			if !ok || !strings.Contains(moved.Error(), `1 record of kind "counter" but is now declared with "document"`) {
				t.Errorf("Open with %s = %v; want a ScopeChangedError that names both kinds", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if got := export(t, h, ann); !strings.Contains(got, `"content":"Ag=="`) {
			t.Errorf("the export with %s is %s; want the content in Base64", name, got)
		}
	}
}

// TestRegistry checks that a Service cannot be opened if kinds conflict, or if a kind rejects a
// declaration.
func TestRegistry(t *testing.T) {
	counter := declare.Store{Name: "visits", Kind: "counter", Access: declare.ScopeUser}
	strict := counter
	strict.Strict = true
	for _, tt := range []struct {
		name  string
		kinds []kind.Kind
		store declare.Store
		want  string
	}{
		{"registered", []kind.Kind{kindtest.Counters{}}, counter, ""},
		{"not registered", nil, counter, `unknown kind "counter"`},
		{"registered twice", []kind.Kind{kindtest.Counters{}, kindtest.Counters{}}, counter, `the kind name "counter"`},
		{"the operations of another kind", []kind.Kind{renamed{"tally"}, kindtest.Counters{}}, counter, ""},
		{"refused by the kind", []kind.Kind{kindtest.Counters{}}, strict, `store "visits": counters have no schema`},
		{"nil", []kind.Kind{nil}, declare.Store{Name: "a", Access: declare.ScopeUser}, `nil`},
	} {
		_, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Stores: []declare.Store{tt.store}, Kinds: tt.kinds})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v; want %s", tt.name, err, tt.want)
		}
	}
}

// renamed is Counters with another name.
type renamed struct{ name declare.Kind }

func (r renamed) Name() declare.Kind { return r.name }

func (renamed) Operations() abi.Table { return kindtest.Counters{}.Operations() }

func (renamed) Compile(st declare.Store, limits kind.Limits) (kind.Store, error) {
	return kindtest.Counters{}.Compile(st, limits)
}

// TestReview checks that the review finds calls of operations that the kind of the store does not
// have.
func TestReview(t *testing.T) {
	h := open(t, mem.New(), func(o *host.Options) {
		o.App = load(t, fstest.MapFS{
			"app.yaml": {Data: []byte(countersApp)}, "python.py": {}, "wasm.wasm": {Data: plugin()},
			"js.js":     {Data: []byte("await memory.count_up('visits', 'a');\nreturn memory.get_content('visits')")},
			"reader.js": {Data: []byte("return memory.get_count('visits', 'a')")},
		}, kindtest.Counters{})
	})
	reviews := h.Review(t.Context())
	found := reviews["js"].Findings
	if len(found) != 1 || found[0].Code != problem.CodeMistake || found[0].Position.Line != 2 || !strings.Contains(found[0].Message, `of kind counter does not support the operation get_content`) {
		t.Errorf("findings = %+v; want one about get_content", found)
	}
	if _, bad := reviews["reader"]; bad {
		t.Errorf("review of a reader = %+v; want none", reviews["reader"])
	}
}
