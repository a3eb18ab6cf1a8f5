package host_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

const factsApp = `
app: travel
memory:
  notes: {access: user}
facts:
  user.language: {type: string, default: en}
  user.visits: {type: number}
  project.rates: {type: object}
  user.secret: {}
tools:
  js: {source: js.js, description: d, grants: {user.language: readwrite, user.visits: readwrite, "user.travel.*": readwrite, project.rates: read, notes: readwrite}}
  fails: {source: fails.js, description: d, grants: {user.visits: readwrite}}
  steals: {source: steals.js, description: d, grants: {user.language: read}}
  wasm: {source: wasm.wasm, description: d, grants: {user.visits: readwrite}}
  python: {source: python.py, description: d, grants: {user.language: readwrite, user.visits: readwrite, "user.travel.*": readwrite}}
`

// factsPlugin sets a fact.
func factsPlugin() []byte {
	m := &wasmtest.Module{Pages: 1}
	set := m.Import("memory."+abi.SetFact, 6)
	m.Data(16, `"user.visits"7`)
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(append(wasmtest.Call(set, 16, 13, 29, 1, 0, 0), wasmtest.Const(0)...), wasmtest.I32LtS)...)
	return m.Bytes()
}

func openFacts(t *testing.T, change ...func(*host.Options)) *host.Host {
	t.Helper()
	return openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(factsApp)}, "wasm.wasm": {Data: factsPlugin()},
		"js.js": {Data: []byte(`
			const before = await memory.get_fact("user.language");
			await memory.set_fact("user.language", "fr");
			await memory.set_fact({path: "user.travel.seat", value: {row: 3}, options: {ttl: "1h"}});
			await memory.set_fact("user.visits", (await memory.get_fact("user.visits") ?? 0) + 1);
			await memory.set_content("notes", {seen: true});
			const {facts} = await memory.list_facts({limit: 10});
			return [before, await memory.get_fact("user.language"), facts.map((f) => f.path), await memory.get_fact("project.rates")];`)},
		"fails.js":  {Data: []byte(`await memory.set_fact("user.visits", 100); throw new Error("no");`)},
		"steals.js": {Data: []byte(`try { return await memory.get_fact("user.secret") } catch (e) { return e.code }`)},
		"python.py": {Data: []byte(`
before = memory.get_fact("user.language")
memory.set_fact("user.language", "de")
memory.set_fact(path="user.travel.seat", value={"row": 4}, options={"ttl": "1h"})
memory.set_fact("user.visits", (memory.get_fact("user.visits") or 0) + 1)
deleted = memory.delete_fact("user.language")["deleted"]
return [before, deleted, [f["path"] for f in memory.list_facts("user")["facts"]]]
`)},
	}, change...)
}

// TestFactsInEngines calls the operations on facts in tools: in JavaScript, in a plug-in and in
// Python.
func TestFactsInEngines(t *testing.T) {
	h := openFacts(t, withPython(t))
	run := func(tool, user, want string) *report.Result {
		t.Helper()
		result, err := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: host.Caller{User: user}})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		var output bytes.Buffer
		if err := json.Compact(&output, result.Output); err != nil || output.String() != want {
			t.Errorf("%s as %s = %s, %v; want %s", tool, user, output.String(), err, want)
		}
		return result
	}
	result := run("js", "ann", `["en","fr",["user.travel.seat","user.visits","user.language"],null]`)
	want := `[{"store":"facts","item":"user.language","revision":1,"op":"set"},{"store":"facts","item":"user.travel.seat","revision":1,"op":"set"},` +
		`{"store":"facts","item":"user.visits","revision":1,"op":"set"},{"store":"notes","revision":1,"op":"set"}]`
	if writes, err := json.Marshal(result.Effects.Writes); err != nil || string(writes) != want {
		t.Errorf("the writes are %s; want %s", writes, want)
	}
	run("python", "ann", `["fr",true,["user.travel.seat","user.visits"]]`)
	run("wasm", "ann", `null`)
	run("python", "bob", `["en",true,["user.travel.seat","user.visits"]]`)
	run("steals", "ann", `"not_found"`)
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "fails", Caller: host.Caller{User: "ann"}}); !errors.Is(err, abi.ToolError) {
		t.Errorf("fails = %v; want tool_error", err)
	}
	run("js", "ann", `["en","fr",["user.travel.seat","user.visits","user.language"],null]`)
	if visits := perform(t, h, host.Caller{User: "ann"}, abi.GetFact, `"user.visits"`); string(visits) != "8" {
		t.Errorf("ann's visits are %s; want 8: the plug-in set 7, and the failed run stored nothing", visits)
	}
}

// TestFactsInDryRuns checks that a dry run reports the changes of facts and stores nothing.
func TestFactsInDryRuns(t *testing.T) {
	h := openFacts(t)
	result, err := h.Run(t.Context(), host.Invocation{Tool: "js", Caller: host.Caller{User: "ann"}, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"store":"facts","item":"user.language","before":null,"after":"fr"}`
	if got, err := json.Marshal(result.Changes[0]); err != nil || string(got) != want {
		t.Errorf("the first change is %s; want %s", got, want)
	}
	if language := perform(t, h, host.Caller{User: "ann"}, abi.GetFact, `"user.language"`); string(language) != `"en"` {
		t.Errorf("then the language is %s; want the default", language)
	}
}
