package host_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

const blocksApp = `
app: crm
blocks: {style: {characters: 10}}
memory:
  notes: {access: user}
tools:
  js: {source: js.js, description: d, grants: {core: readwrite, archival: read, style: readwrite}}
  ts: {source: js.js, description: d, grants: {core: read}}
  wasm: {source: wasm.wasm, description: d, grants: {archival: readwrite}}
  python: {source: python.py, description: d, grants: {core: readwrite, style: read}}
  fails: {source: fails.js, description: d, grants: {core: readwrite, notes: readwrite}}
  agent: {source: agent.js, description: d, grants: {core: readwrite}}
`

// blocksPlugin returns a plug-in. The plug-in updates a block of the user, deletes this block, and
// then updates a block of the agent.
func blocksPlugin() []byte {
	m := &wasmtest.Module{Pages: 1}
	update := m.Import("memory."+abi.UpdateBlock, 6)
	m.Data(16, `archival"- from a plug-in"{"agent":true}`)
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(append(wasmtest.Call(update, 16, 8, 24, 18, 42, 14), wasmtest.Const(0)...), wasmtest.I32LtS)...)
	return m.Bytes()
}

var blocksTime = time.Date(2026, 4, 30, 16, 20, 0, 0, time.UTC)

func openBlocks(t *testing.T, change ...func(*host.Options)) *host.Host {
	t.Helper()
	atTime := func(o *host.Options) { o.Now = func() time.Time { return blocksTime } }
	return openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(blocksApp)}, "wasm.wasm": {Data: blocksPlugin()},
		"js.js": {Data: []byte(`
			const code = async (call) => { try { return await call(); } catch (e) { return e.code; } };
			const before = await memory.get_block("core");
			const first = await code(() => memory.update_block({name: "core", content: "- a", options: {expected_updated_at: before?.updated_at ?? null}}));
			return [
				before?.content ?? null, first.revision ?? first, (await memory.get_block("core")).content,
				await code(() => memory.update_block("core", "- b")),
				await code(() => memory.update_block("style", "01234567890")),
				await code(() => memory.get_block("style", {agent: true})),
				await code(() => memory.get_block("missing")),
				await code(() => memory.delete_block("archival")),
			];`)},
		"python.py": {Data: []byte(`
def code(op, *args, **named):
    try:
        return op(*args, **named)
    except memory.MemoryAccessError as e:
        return e.code
before = memory.get_block("core")
stored = memory.update_block(name="core", content="- ä", options={"expected_updated_at": before["updated_at"]})
stale = code(memory.update_block, "core", "- c", {"expected_updated_at": before["updated_at"]})
deleted = memory.delete_block("core", {"if_revision": stored["revision"]})["deleted"]
return [before["content"], stale, deleted, memory.get_block("core"), code(memory.update_block, "style", "x"), code(memory.get_block, "style", {"agent": True})]
`)},
		"fails.js": {Data: []byte(`await memory.update_block("core", "- lost"); await memory.set_content("notes", {n: 1}); throw new Error("no");`)},
		"agent.js": {Data: []byte(`
			const own = await memory.get_block("core", {agent: true});
			await memory.update_block("core", (own?.content ?? "") + "- " + input.text + "\n", {agent: true, if_revision: own?.revision ?? 0});
			return own?.agent_id ?? null;`)},
		"desk.abl": {Data: []byte(deskBlocksAgent)}, "other.abl": {Data: []byte(`AGENT: Other
FLOW:
  go:
    CALL: agent(text: "other")
    THEN: COMPLETE
`)},
	}, append([]func(*host.Options){atTime}, change...)...)
}

const deskBlocksAgent = `AGENT: Desk
FLOW:
  go:
    CALL: agent(text: "desk")
    THEN: COMPLETE
`

// TestBlocksInEngines calls the operations on blocks in tools: in JavaScript, in a plug-in and in
// Python.
func TestBlocksInEngines(t *testing.T) {
	h := openBlocks(t, withPython(t))
	run := func(tool, agent, want string) {
		t.Helper()
		result, err := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: host.Caller{User: "ann", Agent: agent}})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		var output bytes.Buffer
		if err := json.Compact(&output, result.Output); err != nil || output.String() != want {
			t.Errorf("%s = %s, %v; want %s", tool, output.String(), err, want)
		}
	}
	run("js", "", `[null,1777566000000,"- a","conflict","too_large","no_agent","not_found","access_denied"]`)
	run("js", "desk", `["- a",1777566000001,"- a","conflict","too_large",null,"not_found","access_denied"]`)
	run("python", "", `["- a","conflict",true,null,"access_denied","no_agent"]`)
	run("wasm", "desk", `null`)
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "fails", Caller: ann}); !errors.Is(err, abi.ToolError) {
		t.Errorf("fails = %v; want tool_error", err)
	}
	found, err := h.Blocks().List(t.Context(), ann, block.ScopeAll)
	if err != nil || len(found) != 1 || found[0].ID != "archival@desk" || found[0].Content != "- from a plug-in" {
		t.Errorf("the blocks are %+v, %v; want the one of the plug-in", found, err)
	}
}

// TestBlocksInDryRuns checks that a dry run reports the changes of blocks and stores nothing.
func TestBlocksInDryRuns(t *testing.T) {
	h := openBlocks(t)
	result, err := h.Run(t.Context(), host.Invocation{Tool: "js", Caller: ann, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"store":"core","before":null,"after":"- a"}]`
	if got, err := json.Marshal(result.Changes); err != nil || string(got) != want {
		t.Errorf("the changes are %s; want %s", got, want)
	}
	if found, err := h.Blocks().List(t.Context(), ann, block.ScopeAll); err != nil || len(found) != 0 {
		t.Errorf("then the blocks are %v, %v; want none", found, err)
	}
}

// TestBlocksInTurns checks that an agent's tools use the blocks of this agent, even if the caller
// selects another agent.
func TestBlocksInTurns(t *testing.T) {
	h := openBlocks(t)
	for _, agent := range []string{"Desk", "Other", "Desk"} {
		caller := host.Caller{User: "ann", Session: "s-" + agent, Agent: "Stranger"}
		if result, err := h.Agents().Turn(t.Context(), host.Turn{Agent: agent, Caller: caller}); err != nil {
			t.Fatalf("%s: %v, %+v", agent, err, result)
		}
	}
	for agent, want := range map[string]string{"Desk": "- desk\n- desk\n", "Other": "- other\n"} {
		if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann", Agent: agent}, "core", true); err != nil || b == nil || b.Content != want {
			t.Errorf("the block of %s is %+v, %v; want %q", agent, b, err, want)
		}
	}
	if found, err := h.Blocks().List(t.Context(), ann, block.ScopeAll); err != nil || len(found) != 2 {
		t.Errorf("the blocks are %+v, %v; want those of two agents", found, err)
	}
}

// TestActiveAgent checks the id of the active agent. The test also checks that a repetition of a
// run is rejected if its active agent is different.
func TestActiveAgent(t *testing.T) {
	h := openBlocks(t)
	run := func(agent, key string) error {
		input := json.RawMessage(`{"text":"x"}`)
		_, err := h.Run(t.Context(), host.Invocation{Tool: "agent", Caller: host.Caller{User: "ann", Agent: agent}, Input: input, Key: key})
		return err
	}
	for _, test := range []struct {
		agent, key string
		want       abi.Code
	}{
		{"a", "k", ""}, {"a", "k", ""}, {"b", "k", abi.Conflict}, {"b", "", ""}, {"", "", abi.NoAgent},
		{"a\x00b", "", abi.InvalidArgument}, {strings.Repeat("a", 257), "", abi.InvalidArgument}, {strings.Repeat("ä/", 80), "", ""},
	} {
		if err := run(test.agent, test.key); test.want == "" && err != nil || test.want != "" && !errors.Is(err, test.want) {
			t.Errorf("a run with the agent %.20q and the key %q = %v; want %q", test.agent, test.key, err, test.want)
		}
	}
	if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann", Agent: "a"}, "core", true); err != nil || b == nil || b.Content != "- x\n" {
		t.Errorf("the block is %+v, %v; want one line, because the second run is the first one", b, err)
	}
}

// TestBlockHandle changes blocks with a Blocks handle.
func TestBlockHandle(t *testing.T) {
	h := openBlocks(t, func(o *host.Options) { o.Ledger = time.Hour })
	mail := host.Caller{User: "ann", Agent: "emails"}
	blocks := h.Blocks()
	first, err := blocks.Update(t.Context(), mail, host.BlockUpdate{Name: "core", Agent: true, Content: "- one"})
	if err != nil || first.ID != "core@emails" || !first.Updated.Equal(blocksTime) || !first.Created.Equal(blocksTime) {
		t.Fatalf("Update = %+v, %v", first, err)
	}
	for _, test := range []struct {
		name     string
		expected block.Expected
		code     abi.Code
	}{
		{"no version", block.Expected{}, abi.Conflict}, {"an old time", block.Expected{Updated: blocksTime.Add(-time.Millisecond)}, abi.Conflict},
		{"a microsecond more", block.Expected{Updated: blocksTime.Add(time.Microsecond)}, abi.Conflict},
		{"another revision", block.Expected{Revision: 1}, abi.Conflict}, {"any version and another one", block.Expected{Exists: true, Revision: 1}, abi.Conflict},
		{"the time and another revision", block.Expected{Updated: blocksTime, Revision: 1}, abi.Conflict},
		{"the revision and another time", block.Expected{Updated: blocksTime.Add(time.Second), Revision: blocksTime.UnixMilli()}, abi.Conflict},
		{"any version", block.Expected{Exists: true}, ""}, {"the time", block.Expected{Updated: blocksTime.Add(time.Millisecond)}, ""},
		{"the revision", block.Expected{Revision: blocksTime.UnixMilli() + 2}, ""},
		{"the time and the revision", block.Expected{Updated: blocksTime.Add(3 * time.Millisecond), Revision: blocksTime.UnixMilli() + 3}, ""},
	} {
		_, err := blocks.Update(t.Context(), mail, host.BlockUpdate{Name: "core", Agent: true, Content: "- two", Expected: test.expected})
		if test.code == "" && err != nil || test.code != "" && !errors.Is(err, test.code) {
			t.Errorf("%s: Update = %v; want %q", test.name, err, test.code)
		}
	}
	if _, err := blocks.Update(t.Context(), mail, host.BlockUpdate{Name: "archival", Expected: block.Expected{Exists: true}}); !errors.Is(err, abi.Conflict) {
		t.Errorf("Update of a missing block that must exist = %v; want conflict", err)
	}
	if got, err := blocks.Get(t.Context(), mail, "core", false); err != nil || got != nil {
		t.Errorf("the user's block is %+v, %v; want none", got, err)
	}
	readOnly := blocks.With(memory.Granted([]declare.Grant{declare.GrantOn("core", abi.Read)}))
	if _, err := readOnly.Delete(t.Context(), mail, host.BlockUpdate{Name: "core", Agent: true, Expected: block.Expected{Exists: true}}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("Delete with a read grant = %v; want access_denied", err)
	}
	if deleted, err := blocks.Delete(t.Context(), mail, host.BlockUpdate{Name: "core", Agent: true, Expected: block.Expected{Exists: true}}); err != nil || !deleted {
		t.Errorf("Delete = %t, %v; want true", deleted, err)
	}
	if _, err := blocks.List(t.Context(), mail, "everyone"); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("List of an unknown scope = %v; want invalid_argument", err)
	}
	found := false
	for _, e := range entries(t, h, ledger.Query{Store: "core"}) {
		found = found || e.User == "ann" && len(e.Writes) == 1 && e.Writes[0].Item == "emails" && e.Writes[0].Revision == blocksTime.UnixMilli()
	}
	if !found {
		t.Error("the ledger does not contain the first write")
	}
}
