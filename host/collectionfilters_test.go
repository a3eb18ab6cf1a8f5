package host_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// filterApp is an app with a tool. The tests replace the source of this tool. The tool returns the
// number of entries that it has found or removed. If a call fails, the tool returns the code of the
// fault.
const filterApp = `
app: filters
memory:
  kb: {kind: collection, access: application}
tools:
  tool: {source: SOURCE, grants: {kb: [read, write, delete]}}
`

// If a filter or a selector contains a value that JSON cannot represent, the call fails. If the
// call succeeded without this value, it would select more entries than the author of the tool
// intended.
func TestFilterValuesInJavaScript(t *testing.T) {
	const invalid = string(abi.InvalidArgument)
	for _, tt := range []struct{ call, want string }{
		{`recall("kb", "tea", {filter: {team: undefined}})`, invalid},
		{`recall("kb", "tea", {filter: {team: "a", owner: undefined}})`, invalid},
		{`recall("kb", "tea", {filter: {team: {in: ["a", undefined]}}})`, invalid},
		{`recall("kb", "tea", {filter: {team: {in: undefined}}})`, invalid},
		{`recall("kb", "tea", {filter: {year: {gte: 2020, lte: undefined}}})`, invalid},
		{`recall({collection: "kb", query: "tea", options: {filter: {team: undefined}}})`, invalid},
		{`recall("kb", "tea", {filter: {year: NaN}})`, invalid},
		{`recall("kb", "tea", {filter: {year: {lte: Infinity}}})`, invalid},
		{`recall("kb", "tea", {filter: {year: 2020n}})`, invalid},
		{`recall("kb", "tea", {filter: {year: new Date(NaN)}})`, invalid},
		{`recall("kb", "tea", {filter: {team: {name: "a"}}})`, invalid},
		{`recall("kb", "tea", {filter: {team: {}}})`, invalid},
		{`recall("kb", "tea", {filter: {team: ["a"]}})`, invalid},
		{`recall("kb", "tea", {filter: {team: () => 1}})`, invalid},
		{`recall("kb", "tea", {filter: {team: new Set(["a"])}})`, invalid},
		{`recall("kb", "tea", {filter: new Map([["team", "a"]])})`, invalid},
		{`recall("kb", "tea", {filter: "team"})`, invalid},
		{`recall("kb", "tea", {filter: {day: new Date(0)}})`, "1"},
		{`recall("kb", "tea", {filter: {team: null}})`, "0"},
		{`recall("kb", "tea", {filter: {team: "a"}, namespace: undefined, limit: undefined})`, "1"},
		{`recall("kb", "tea", {filter: undefined})`, "2"},
		{`forget("kb", {filter: {team: undefined}})`, invalid},
		{`forget("kb", {filter: undefined, namespace: "s1"})`, invalid},
		{`forget("kb", {id: undefined, namespace: "s1"})`, invalid},
		{`forget("kb", {id: null, namespace: "s1"})`, invalid},
		{`forget("kb", {all: undefined, namespace: "s1"})`, invalid},
		{`forget("kb", {selector: {id: undefined, namespace: "s1"}})`, invalid},
		{`forget({collection: "kb", options: {id: undefined, namespace: "s1"}})`, invalid},
		{`forget("kb", {filter: {}, namespace: "s1"})`, invalid},
		{`forget("kb", undefined)`, invalid},
		{`forget("kb", {id: "x", namespace: undefined})`, "0"},
	} {
		source := "try { return (await memory." + tt.call + ").count } catch (e) { return e.code }"
		checkFilter(t, openFilters(t, "tool.js", source), nil, tt.call, tt.want)
	}
}

// The fault for an undefined value has a hint.
func TestHintOfUndefinedFilter(t *testing.T) {
	for call, want := range map[string]string{
		`recall("kb", "tea", {filter: {team: undefined}})`: "recall: options.filter.team is undefined",
		`forget("kb", {id: undefined, namespace: "s1"})`:   "forget: selector.id is undefined",
	} {
		_, err := run(openFilters(t, "tool.js", "await memory."+call), host.Invocation{})
		if f := abi.FaultOf(err); !strings.HasSuffix(f.Message, want) || f.Hint != "pass a value, or omit the member to select entries without this condition" {
			t.Errorf("%s: %q (hint: %q); want %q with a hint", call, f.Message, f.Hint, want)
		}
	}
}

// Metadata are JSON: JavaScript omits undefined members, like JSON.stringify. The values null and
// None are stored as null, and a filter can match null. TestCollectionsInAllLanguages checks how
// the other languages store null.
func TestUndefinedAndNullMetadata(t *testing.T) {
	const want = `[{"b":null,"c":[null,1]}]`
	for file, source := range map[string]string{
		"tool.js": `await memory.remember("kb", "oolong", {id: "4", metadata: {a: undefined, b: null, c: [undefined, 1]}});
return (await memory.recall("kb", "oolong", {filter: {b: null}, limit: 1})).results.map(r => r.metadata)`,
		"tool.py": `memory.remember("kb", "oolong", {"id": "4", "metadata": {"b": None, "c": [None, 1]}})
return [r["metadata"] for r in memory.recall("kb", "oolong", {"filter": {"b": None}, "limit": 1})["results"]]`,
	} {
		if got := result(t, openFilters(t, file, source, withPython(t))); got != want {
			t.Errorf("%s = %s; want %s", file, got, want)
		}
	}
}

// result runs the tool and returns its output.
func result(t *testing.T, h *host.Host) string {
	t.Helper()
	result, err := run(h, host.Invocation{})
	if err != nil {
		t.Error(err)
	}
	return string(result.Output)
}

func TestFilterValuesInPython(t *testing.T) {
	h := openFilters(t, "tool.py", `
import datetime
try:
    return eval("memory." + input["call"])["count"]
except MemoryAccessError as e:
    return e.code
`, withPython(t))
	const invalid = string(abi.InvalidArgument)
	for _, tt := range []struct{ call, want string }{
		{`recall("kb", "tea", {"filter": {"year": float("nan")}})`, invalid},
		{`recall("kb", "tea", {"filter": {"year": {"lte": float("inf")}}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": {"a"}}})`, invalid},
		{`recall("kb", "tea", {"filter": {"day": datetime.datetime(1970, 1, 1)}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": object()}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": ("a", "b")}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": {}}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": {"in": None}}})`, invalid},
		{`recall("kb", "tea", {"filter": {"year": {"gte": 2020, "lte": None}}})`, invalid},
		{`recall("kb", "tea", {"filter": {"team": None}})`, "0"},
		{`recall("kb", "tea", {"filter": {"team": "a"}, "namespace": None})`, "1"},
		{`recall("kb", "tea", {"filter": None})`, "2"},
		{`forget("kb", {"filter": None, "namespace": "s1"})`, invalid},
		{`forget("kb", {"id": None, "namespace": "s1"})`, invalid},
		{`forget("kb", {"all": None, "namespace": "s1"})`, invalid},
		{`forget("kb", None)`, invalid},
		{`forget("kb", {"id": "x", "namespace": None})`, "0"},
	} {
		input, err := json.Marshal(map[string]string{"call": tt.call})
		if err != nil {
			t.Fatal(err)
		}
		checkFilter(t, h, input, tt.call, tt.want)
	}
}

// A machine passes a missing value on to the operation, which rejects the call.
func TestFilterValuesInMachine(t *testing.T) {
	for step, ok := range map[string]bool{
		"recall found\n      query: \"tea\"\n      collection: \"kb\"\n      filter: {team: input.team}":          false,
		"forget gone\n      collection: \"kb\"\n      id: input.team\n      namespace: \"s1\"":                    false,
		"forget gone\n      collection: \"kb\"\n      filter: {team: input.team}\n      namespace: \"s1\"":        false,
		"recall found\n      query: \"tea\"\n      collection: \"kb\"\n      filter: {team: input.team ?? \"a\"}": true,
	} {
		source := "machine tool\n  accepts\n    team as text\n  ensures\n    permissions\n      allowed to memory\n  implements\n    " + step + "\n"
		h := openFilters(t, "tool.machine", source)
		if result, err := run(h, host.Invocation{Input: []byte(`{}`)}); (err == nil) != ok || !ok && !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("%s: %s, %v; want success: %t", step, result.Output, err, ok)
		}
		checkKept(t, h, step)
	}
}

func openFilters(t *testing.T, file, source string, change ...func(*host.Options)) *host.Host {
	t.Helper()
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(strings.ReplaceAll(filterApp, "SOURCE", file))}, file: {Data: []byte(source)},
	}, change...)
	remember(t, h, host.Caller{}, "kb",
		host.NewEntry{ID: "1", Content: text("green tea"), Metadata: []byte(`{"team":"a","year":2020,"owner":"ann","day":"1970-01-01T00:00:00.000Z"}`)},
		host.NewEntry{ID: "2", Content: text("black tea"), Metadata: []byte(`{"team":"b","year":2030}`)},
		host.NewEntry{ID: "3", Namespace: "s1", Content: text("white tea")})
	return h
}

func checkFilter(t *testing.T, h *host.Host, input json.RawMessage, call, want string) {
	t.Helper()
	result, err := run(h, host.Invocation{Input: input})
	if got := strings.Trim(string(result.Output), `"`); err != nil || got != want {
		t.Errorf("%s = %s, %v; want %s", call, result.Output, err, want)
	}
	checkKept(t, h, call)
}

// checkKept checks that no entry was removed.
func checkKept(t *testing.T, h *host.Host, call string) {
	t.Helper()
	if c, err := host.CollectionsOf(h).Show(t.Context(), host.Caller{}, "kb"); err != nil || c.Entries != 3 {
		t.Errorf("%s: %d entries remain, %v; want 3", call, c.Entries, err)
	}
}
