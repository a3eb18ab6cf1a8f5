package kindtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/memory/kindtest"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

const gaugesApp = `
app: shop
memory:
  gauges: {kind: gauge, access: user}
  visits: {kind: counter, access: user}
  prefs: {access: user}
tools:
  js: {source: js.js, description: Counts, grants: {gauges: readwrite, visits: readwrite, prefs: readwrite}}
  wasm: {source: wasm.wasm, description: Counts, grants: {gauges: readwrite, visits: readwrite}}
  python: {source: python.py, description: Counts, grants: {gauges: readwrite, visits: readwrite}}
  stranger: {source: stranger.js, description: Counts, grants: {visits: readwrite}}
`

// gaugesPlugin returns a plug-in that increments a counter and a gauge. For the counter, the
// plug-in passes the name of the store. For the gauge, the plug-in passes no store. If the plug-in
// cannot read the gauge, it exits with status 1.
func gaugesPlugin() []byte {
	const text = `visits"wasm"2`
	m := &wasmtest.Module{Pages: 1}
	count, read := m.Import("memory."+kindtest.CountUp, 6), m.Import("memory."+kindtest.ReadGauge, 2)
	m.Data(16, text)
	m.Func("toolrun_abi_1", 0)
	code := append(wasmtest.Call(count, 16, 6, 22, 6, 28, 1), wasmtest.Drop)
	code = append(append(code, wasmtest.Call(count, 0, 0, 22, 6, 0, 0)...), wasmtest.Drop)
	code = append(code, wasmtest.Call(read, 22, 6)...)
	code = append(append(code, wasmtest.Const(0)...), wasmtest.I32LtS)
	m.Func("toolrun_run", 1, code...)
	return m.Bytes()
}

// openGauges opens the app on an in-memory backend. The kinds Counters and Gauges are also
// registered.
func openGauges(t *testing.T, changes ...func(*host.Options)) *host.Host {
	t.Helper()
	files := fstest.MapFS{
		"app.yaml": {Data: []byte(gaugesApp)}, "wasm.wasm": {Data: gaugesPlugin()},
		"js.js": {Data: []byte(`
			await memory.count_up("visits", "js", 7);
			await memory.count_up("js");
			await memory.count_up({name: "js", by: 2});
			await memory.set_content("prefs", {seen: true});
			await memory.delete_content("prefs");
			const {count} = await memory.read_gauge("js");
			await memory.delete_content("gauges");
			return [count, await memory.read_gauge("js"), await memory.get_count("visits", "js"), await memory.get_content("prefs")];`)},
		"python.py": {Data: []byte(`
memory.count_up("visits", "py", 7)
memory.count_up("py")
memory.count_up("py", by=2)
memory.count_up(name="py")
return [memory.read_gauge("py"), memory.get_count("visits", "py")]
`)},
		"stranger.js": {Data: []byte(`return memory.read_gauge("js")`)},
	}
	options := host.Options{Backend: mem.New(), Kinds: []kind.Kind{kindtest.Counters{}, kindtest.Gauges{}}}
	return openHost(t, files, options, changes...)
}

// TestSpaceInEngines runs tools in worker processes. TestSpaceInEngines calls shared operations and
// operations without a store parameter from JavaScript, from a plug-in and from Python.
func TestSpaceInEngines(t *testing.T) {
	h := openGauges(t, inWorkers(t))
	for _, tt := range []struct{ tool, output, writes string }{
		{"js", `[3,{"count":0},{"count":7},null]`, ""},
		{"wasm", `null`, `[{"store":"visits","item":"wasm","revision":1,"op":"set"},{"store":"gauges","item":"wasm","revision":1,"op":"set"}]`},
		{"python", `[{"count":4},{"count":7}]`, ""},
	} {
		result := run(t, h, host.Invocation{Tool: tt.tool})
		var output any
		if err := json.Unmarshal(result.Output, &output); err != nil {
			t.Fatal(err)
		}
		if got := text(t, output); got != tt.output {
			t.Errorf("%s = %s; want %s", tt.tool, got, tt.output)
		}
		if got := text(t, result.Effects.Writes); tt.writes != "" && got != tt.writes {
			t.Errorf("writes of %s = %s; want %s", tt.tool, got, tt.writes)
		}
	}
}

// TestSpaceFaults checks calls without a store parameter. A call without a store parameter requires
// a grant on the store, and its faults must contain the store.
func TestSpaceFaults(t *testing.T) {
	h := openGauges(t)
	_, err := h.Run(t.Context(), host.Invocation{Tool: "stranger", Caller: ann})
	if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != abi.NotFound || f.Store != kindtest.GaugeStore {
		t.Errorf("a tool without the grant = %v; want not_found of the store gauges", err)
	}
	for _, tt := range []struct{ name, op, args, store, want string }{
		{"a store that is not named otherwise", kindtest.CountUp, `["gauges", "a"]`, "gauges", "does not accept the name of a store of kind gauge"},
		{"no argument", kindtest.CountUp, `[]`, "gauges", "the name of a counter must be a string"},
		{"one argument", kindtest.CountUp, `[""]`, "gauges", "the name of a counter must be a string"},
		{"a name that is not a text", kindtest.ReadGauge, `[5]`, "gauges", "the name of a counter must be a string"},
		{"a parameter after the name", kindtest.CountUp, `["a", -1]`, "gauges", "must be a whole number"},
		{"a parameter by its name", kindtest.CountUp, `["a", null, -1]`, "gauges", "must be a whole number"},
		{"a document", kindtest.CountUp, `["prefs", "a"]`, "prefs", "of kind document does not support the operation count_up"},
	} {
		call := abi.Call{Op: tt.op}
		if err := json.Unmarshal([]byte(tt.args), &call.Args); err != nil {
			t.Fatal(err)
		}
		_, _, err := h.Stores().Do(t.Context(), ann, memory.Operator(), call)
		f, ok := errors.AsType[*abi.Fault](err)
		if !ok || f.Code != abi.InvalidArgument || f.Store != tt.store || !strings.Contains(f.Message, tt.want) {
			t.Errorf("%s: %s%s = %+v; want invalid_argument of %s: %s", tt.name, tt.op, tt.args, err, tt.store, tt.want)
		}
	}
}

// TestSpaceUndeclared checks an operation without a store parameter. The operation must fail if the
// app does not declare the store, or declares it with another kind.
func TestSpaceUndeclared(t *testing.T) {
	call := abi.Call{Op: kindtest.ReadGauge, Args: []json.RawMessage{json.RawMessage(`"a"`)}}
	for _, tt := range []struct {
		name   string
		stores []declare.Store
		code   abi.Code
	}{
		{"no store", nil, abi.NotFound},
		{"a document", []declare.Store{{Name: "gauges", Access: declare.ScopeApplication}}, abi.InvalidArgument},
	} {
		service, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Kinds: []kind.Kind{kindtest.Gauges{}}, Stores: tt.stores})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = service.Do(t.Context(), partition.Caller{Tenant: "acme", User: "ann", Run: "run_1"}, memory.Operator(), call)
		if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Code != tt.code || f.Store != "gauges" {
			t.Errorf("%s: read_gauge = %v; want %s", tt.name, err, tt.code)
		}
	}
}

// declaring is a kind whose operation table can be configured.
type declaring struct {
	kindtest.Gauges
	name  declare.Kind
	table abi.Table
}

func (d declaring) Name() declare.Kind    { return d.name }
func (d declaring) Operations() abi.Table { return d.table }

// spaceless is a kind that does not implement kind.Space.
type spaceless struct{ kind.Kind }

// TestSharedOperations checks which operations kinds can share. One function of tool code must be
// able to represent the operation of all these kinds.
func TestSharedOperations(t *testing.T) {
	store := abi.Param{Name: "store", Kind: abi.StoreName, Required: true}
	query := abi.Param{Name: "query", Kind: abi.JSON, Required: true, Type: abi.Type{Shape: abi.Text}}
	limit := abi.Param{Name: "limit", Kind: abi.JSON}
	optional := store
	optional.Required = false
	renamedStore := store
	renamedStore.Name = "collection"
	of := func(name declare.Kind, verb abi.Verb, params ...abi.Param) kind.Kind {
		return declaring{name: name, table: abi.Table{{Name: "find", Verb: verb, Params: params}}}
	}
	for _, tt := range []struct {
		name  string
		kinds []kind.Kind
		want  string // the error of the registration, or ""
	}{
		{"with a store", []kind.Kind{of("a", abi.Read, store, query), of("b", abi.Read, store, query)}, ""},
		{"first without a store", []kind.Kind{of("a", abi.Read, query, limit), of("b", abi.Read, store, query, limit), of("c", abi.Read, store, query, limit)}, ""},
		{"first with a store", []kind.Kind{of("a", abi.Read, store, query), of("b", abi.Read, query), of("c", abi.Read, store, query)}, ""},
		{"different verbs", []kind.Kind{of("a", abi.Read, store, query), of("b", abi.Write, store, query)}, "different verbs"},
		{"or parameters", []kind.Kind{of("a", abi.Read, store, query), of("b", abi.Read, query, limit)}, "or parameters"},
		{"another name of the store", []kind.Kind{of("a", abi.Read, store, query), of("b", abi.Read, renamedStore, query)}, "different names for the store"},
		{"both without a store", []kind.Kind{of("a", abi.Read, query), of("b", abi.Read, query)}, `"a" and "b" both have the operation find, without a store`},
		{"an optional text", []kind.Kind{of("a", abi.Read, store, limit), of("b", abi.Read, limit)}, "must be a required text"},
		{"a store at the end", []kind.Kind{of("a", abi.Read, query, store)}, "must be a required store"},
		{"an optional store", []kind.Kind{of("a", abi.Read, optional, query)}, "must be a required store"},
		{"not a space", []kind.Kind{spaceless{of("a", abi.Read, query)}}, "must have a store parameter"},
		{"twice in one kind", []kind.Kind{declaring{name: "a", table: append(of("a", abi.Read, query).Operations(), of("a", abi.Read, store, query).Operations()...)}}, "twice"},
	} {
		service, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Kinds: tt.kinds})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v; want %q", tt.name, err, tt.want)
		}
		if err != nil {
			continue
		}
		op, ok := service.Operations().Lookup("find")
		if mixed := tt.name != "with a store"; !ok || op.Params[0].Name != "store" || op.Params[0].Required == mixed || !op.Params[1].Required {
			t.Errorf("%s: the operation is %+v", tt.name, op)
		}
	}
}

// TestSpaceReview checks that the review of sources accepts calls that omit the optional store.
func TestSpaceReview(t *testing.T) {
	h := openGauges(t, inWorkers(t))
	for tool, review := range h.Review(t.Context()) {
		if review.Err != nil || len(review.Findings) > 0 {
			t.Errorf("review of %s = %+v; want no finding", tool, review)
		}
	}
}

// TestSpaceObserved checks that an observer receives the name of the store even if the call omits
// the name.
func TestSpaceObserved(t *testing.T) {
	seen := &stores{}
	h := openGauges(t, func(o *host.Options) { o.Observers = append(o.Observers, seen) })
	run(t, h, host.Invocation{Tool: "wasm"})
	if got := strings.Join(seen.names, " "); got != "visits gauges gauges" {
		t.Errorf("stores of the calls = %q; want visits, gauges, gauges", got)
	}
}

type stores struct {
	host.NopObserver
	names []string
}

func (s *stores) MemoryCalled(_ context.Context, _ host.RunInfo, e host.CallEvent) {
	s.names = append(s.names, e.Store())
}
