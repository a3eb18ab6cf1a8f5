package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

const deskApp = `
app: desk
memory:
  notes: {access: user}
facts:
  project.total: {type: number}
tools:
  bump: {source: bump.js, description: d, grants: {notes: readwrite, user.visits: readwrite}, inputSchema: {type: object, properties: {n: {type: number}}, required: [n]}}
  boom: {source: boom.js, description: d, grants: {notes: readwrite, user.visits: readwrite}}
  slow: {source: slow.js, description: d, grants: {notes: readwrite}, limits: {timeout: 100ms}}
  exit: {source: exit.js, description: d, grants: {notes: readwrite}, outputSchema: {type: string}}
  steal: {source: steal.js, description: d, grants: {notes: read}}
`

const deskAgent = `AGENT: Desk
GOAL: "Test the host"
MEMORY:
  session:
    - turns
      INITIAL: 0
    - kept
      RESET: never
      INITIAL: 0
  persistent:
    - user.visits
      TYPE: number
    - user.name
      DEFAULT: "guest"
    - project.total
      ACCESS: readwrite
  remember:
    - WHEN: turns > 1
      STORE: turns -> user.most_turns
      TTL: "1h"
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.name]
FLOW:
  menu:
    REASONING: false
    ON_INPUT:
      - IF: input == "total"
        SET: project.total = COALESCE(project.total, 0) + 1
        THEN: menu
      - IF: input == "name"
        SET: user.name = "Ann"
        RESPOND: "Hello {{user.name}}."
      - IF: input == "kept"
        SET: kept = kept + 1
      - ELSE:
        SET:
          - turns = turns + 1
          - tool = input
        THEN: call
  call:
    REASONING: false
    CHECK: tool == "bump" OR tool == "boom" OR tool == "slow" OR tool == "exit" OR tool == "steal"
    ON_FAIL: menu
    THEN: bump
`

// deskFiles returns the files of the app "desk". For each tool, the agent has a step that calls the
// tool.
func deskFiles() fstest.MapFS {
	source := deskAgent
	tools := []string{"bump", "boom", "slow", "exit", "steal"}
	for i, name := range tools {
		next := "menu"
		if i+1 < len(tools) {
			next = tools[i+1]
		}
		args := ""
		if name == "bump" {
			args = "n: turns"
		}
		source += strings.NewReplacer("NAME", name, "ARGS", args, "NEXT", next).Replace(`  NAME:
    REASONING: false
    WHEN: tool == "NAME"
    CALL: NAME(ARGS)
    ON_SUCCESS:
      RESPOND: "NAME: {{call_result}}"
      THEN: menu
    ON_FAIL:
      RESPOND: "NAME failed: {{call_error.code}}"
      THEN: menu
    THEN: NEXT
`)
	}
	return fstest.MapFS{
		"app.yaml": {Data: []byte(deskApp)}, "desk.abl": {Data: []byte(source)},
		"bump.js":  {Data: []byte(`const c = (await memory.get_content("notes"))?.n ?? 0; await memory.set_content("notes", {n: c + input.n}); await memory.set_fact("user.visits", c + 1); console.log("bumped"); return c + input.n`)},
		"boom.js":  {Data: []byte(`await memory.set_content("notes", {n: 1000}); await memory.set_fact("user.visits", 1000); console.log("boom"); throw new Error("boom")`)},
		"slow.js":  {Data: []byte(`await memory.set_content("notes", {n: 1000}); for (;;) {}`)},
		"exit.js":  {Data: []byte(`await memory.set_content("notes", {n: 1000}); return 5`)},
		"steal.js": {Data: []byte(`try { return await memory.get_fact("user.visits") } catch (e) { return e.code }`)},
	}
}

func openDesk(t *testing.T, change ...func(*host.Options)) *host.Host {
	t.Helper()
	return openDeskFiles(t, deskFiles(), change...)
}

func openDeskFiles(t *testing.T, files fstest.MapFS, change ...func(*host.Options)) *host.Host {
	t.Helper()
	onBackend := func(o *host.Options) { o.Backend = deskBackend(t) }
	return openApp(t, files, append([]func(*host.Options){onBackend}, change...)...)
}

// deskBackend returns a backend for the hosts of the turn tests.
var deskBackend = func(*testing.T) storage.Backend { return mem.New() }

// onBackends runs a test on each of the two backends.
func onBackends(t *testing.T, test func(*testing.T)) {
	t.Run("mem", test)
	t.Run("bolt", func(t *testing.T) {
		inMemory := deskBackend
		defer func() { deskBackend = inMemory }()
		deskBackend = func(t *testing.T) storage.Backend {
			db, err := bolt.Open(filepath.Join(t.TempDir(), "desk.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			return db
		}
		test(t)
	})
}

var annInS1 = host.Caller{User: "ann", Session: "s1"}

// say performs a turn with a message.
func say(t *testing.T, h *host.Host, c host.Caller, message string) *report.Turn {
	t.Helper()
	result, err := h.Agents().Turn(context.Background(), host.Turn{Caller: c, Message: &message})
	if err != nil {
		t.Fatalf("Turn(%s) = %v", message, err)
	}
	return result
}

// content reads the content of a store or the value of a fact. The caller is an operator.
func content(t *testing.T, h *host.Host, c host.Caller, op, name string) string {
	t.Helper()
	reply, _, err := h.Stores().Do(context.Background(), c, memory.Operator(), abi.Call{Op: op, Args: []json.RawMessage{json.RawMessage(`"` + name + `"`)}})
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

func TestTurn(t *testing.T) { everywhere(t, testTurn) }

func testTurn(t *testing.T) {
	h := openDesk(t, func(o *host.Options) { o.Ledger = time.Hour })
	first, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1})
	if err != nil || !first.OK || first.Agent != "Desk" || first.Session != "s1" || len(first.Messages) != 0 || *first.Step != "menu" {
		t.Fatalf("the first turn = %+v, %v", first, err)
	}
	if first.Injected["user.name"] != "guest" || first.Usage.CPUMS <= 0 || first.Attempts != 1 || len(first.Trace) == 0 || !strings.HasPrefix(first.TurnID, "turn_") {
		t.Errorf("the first turn = %+v", first)
	}
	bumped := say(t, h, annInS1, "bump")
	if !slices.Contains(bumped.Messages, "bump: 1") || content(t, h, annInS1, abi.GetContent, "notes") != `{"n":1}` || content(t, h, annInS1, abi.GetFact, "user.visits") != "1" {
		t.Errorf("the turn with a tool = %+v", bumped.Messages)
	}
	if len(bumped.Logs) != 1 || bumped.Logs[0].Text != "bumped" || bumped.Usage.HostCalls < 4 {
		t.Errorf("logs = %v, usage = %+v; want those of the tool", bumped.Logs, bumped.Usage)
	}
	inProcess := slices.Contains(bumped.Warnings, host.InProcessWarning)
	if inProcess == strings.HasSuffix(t.Name(), "in_workers") {
		t.Errorf("warnings = %q", bumped.Warnings)
	}
	written := map[string]bool{}
	for _, w := range bumped.Effects.Writes {
		written[w.Store+" "+w.Item] = true
	}
	for _, want := range []string{"notes ", "facts user.visits", "agents Desk", "agents session.state"} {
		if !written[want] {
			t.Errorf("the writes are %v; want %q", bumped.Effects.Writes, want)
		}
	}
	entries, _, _, err := h.Ledger().Entries(t.Context(), annInS1, ledger.Query{Tool: "Desk", Limit: 10})
	i := slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Run == bumped.TurnID })
	if err != nil || len(entries) != 2 || i < 0 || entries[i].Act != "turn" || len(entries[i].Writes) != len(bumped.Effects.Writes) {
		t.Errorf("the ledger has %+v, %v; want both turns", entries, err)
	}
}

// If a tool fails, the tool's own writes are undone. The other writes remain, and the agent
// continues.
func TestFailingToolsInTurns(t *testing.T) { everywhere(t, testFailingToolsInTurns) }

func testFailingToolsInTurns(t *testing.T) {
	h := openDesk(t)
	say(t, h, annInS1, "bump")
	for message, want := range map[string]string{
		"boom": "boom failed: tool_error", "slow": "slow failed: timeout", "exit": "exit failed: output_invalid", "steal": "steal: not_found",
	} {
		before := content(t, h, annInS1, abi.GetContent, "notes")
		result := say(t, h, annInS1, message)
		if !result.OK || !slices.Contains(result.Messages, want) {
			t.Errorf("Turn(%s) = %q; want %q", message, result.Messages, want)
		}
		if after := content(t, h, annInS1, abi.GetContent, "notes"); after != before || content(t, h, annInS1, abi.GetFact, "user.visits") != "1" {
			t.Errorf("after %s the notes are %s; want %s", message, after, before)
		}
	}
	if result := say(t, h, annInS1, "bump"); result.Variables["turns"] != 6.0 || content(t, h, annInS1, abi.GetFact, "user.most_turns") != "6" {
		t.Errorf("variables = %v; want the writes of the agent itself", result.Variables)
	}
}

// The variables of a session are removed when the session ends. Facts and variables that are never
// reset are kept.
func TestTurnsAndSessions(t *testing.T) { onBackends(t, testTurnsAndSessions) }

func testTurnsAndSessions(t *testing.T) {
	h := openDesk(t)
	say(t, h, annInS1, "kept")
	say(t, h, annInS1, "x")
	if _, err := h.Sessions().End(t.Context(), annInS1); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1}); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("a turn of an ended session = %v; want session_ended", err)
	}
	result := say(t, h, host.Caller{User: "ann", Session: "s2"}, "kept")
	if result.Variables["kept"] != 2.0 || result.Variables["turns"] != 0.0 {
		t.Errorf("variables = %v; want kept from the first session", result.Variables)
	}
	if result := say(t, h, host.Caller{User: "bob", Session: "s3"}, "kept"); result.Variables["kept"] != 1.0 {
		t.Errorf("variables of another user = %v", result.Variables)
	}
	name := "name"
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{Session: "s4"}, Message: &name}); !errors.Is(err, abi.NoUser) {
		t.Errorf("a turn without a user that sets a fact of the user = %v; want no_user", err)
	}
	if result := say(t, h, host.Caller{Session: "s4"}, "kept"); result.Injected["user.name"] != "guest" || result.Variables["kept"] != 1.0 {
		t.Errorf("a turn without a user = %+v; want defaults", result)
	}
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{User: "bob", Session: "s2"}}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("a turn in another user's session = %v; want access_denied", err)
	}
	erased, err := h.Users().Erase(t.Context(), host.Caller{User: "ann"})
	if err != nil || erased.Sessions == 0 {
		t.Fatalf("Erase = %+v, %v", erased, err)
	}
	list, _, err := h.Stores().List(t.Context(), host.Caller{}, declare.Agents, "", 100)
	for _, r := range list {
		if r.User == "ann" || r.Session == "s1" || r.Session == "s2" {
			t.Errorf("after an erasure the record %+v is left", r)
		}
	}
	if err != nil || len(list) == 0 {
		t.Errorf("after an erasure the agents have %d records, %v; want those of others", len(list), err)
	}
}

// If a turn has no session, it begins a session. If the turn is repeated with the same key, the
// repetition gets the same answer.
func TestTurnKeys(t *testing.T) { onBackends(t, testTurnKeys) }

func testTurnKeys(t *testing.T) {
	h := openDesk(t)
	message := "bump"
	req := host.Turn{Caller: host.Caller{User: "ann"}, Message: &message, Key: "k1"}
	first, err := h.Agents().Turn(t.Context(), req)
	if err != nil || first.Session == "" || first.Repeated {
		t.Fatalf("Turn = %+v, %v; want a new session", first, err)
	}
	again, err := h.Agents().Turn(t.Context(), req)
	if err != nil || !again.Repeated || again.TurnID != first.TurnID || !slices.Equal(again.Messages, first.Messages) || again.Session != first.Session {
		t.Errorf("the repeated turn = %+v, %v", again, err)
	}
	if got := content(t, h, annInS1, abi.GetContent, "notes"); got != `{"n":1}` {
		t.Errorf("the notes are %s; want one execution", got)
	}
	other := "boom"
	req.Message = &other
	if _, err := h.Agents().Turn(t.Context(), req); !errors.Is(err, abi.Conflict) || !strings.Contains(err.Error(), "message") {
		t.Errorf("another message under the key = %v; want a conflict that names it", err)
	}
	later, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{User: "ann", Session: first.Session}, Message: &message})
	if err != nil || later.Variables["turns"] != 2.0 {
		t.Errorf("the next turn of the session = %+v, %v", later, err)
	}
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{User: "eve", Session: first.Session, Confined: true}}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("a turn of another user in that session = %v", err)
	}
}

// A dry run of a turn reports its changes and stores nothing.
func TestDryTurn(t *testing.T) { onBackends(t, testDryTurn) }

func testDryTurn(t *testing.T) {
	h := openDesk(t)
	message := "bump"
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1, Message: &message, DryRun: true})
	if err != nil || len(result.Changes) < 4 || !slices.Contains(result.Messages, "bump: 1") {
		t.Fatalf("the dry run = %+v, %v", result, err)
	}
	for _, c := range result.Changes {
		if c.Store == declare.Agents && c.Item == "Desk" && !strings.Contains(string(c.After), `"turns":1`) {
			t.Errorf("the change of the state is %s", c.After)
		}
	}
	if got := content(t, h, annInS1, abi.GetContent, "notes"); got != "null" {
		t.Errorf("the notes are %s; want nothing", got)
	}
	if _, err := h.Sessions().Get(t.Context(), annInS1); !errors.Is(err, abi.NotFound) {
		t.Errorf("the dry run began a session: %v", err)
	}
}

// A failed turn stores nothing: neither the agent's writes nor the writes of its tools.
func TestFailedTurn(t *testing.T) { onBackends(t, testFailedTurn) }

func testFailedTurn(t *testing.T) {
	files := deskFiles()
	files["desk.abl"].Data = []byte(strings.Replace(string(files["desk.abl"].Data), "    ON_FAIL:\n      RESPOND: \"boom failed: {{call_error.code}}\"\n      THEN: menu\n", "", 1))
	h := openDeskFiles(t, files)
	say(t, h, annInS1, "bump")
	message := "boom"
	result, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1, Message: &message})
	if !errors.Is(err, abi.ToolError) || result.OK || result.Error == nil || result.Error.Line == 0 || len(result.Messages) != 0 || len(result.Effects.Writes) != 0 {
		t.Fatalf("Turn = %+v, %v; want tool_error", result, err)
	}
	if result := say(t, h, annInS1, "bump"); result.Variables["turns"] != 2.0 {
		t.Errorf("variables = %v; want those of two turns", result.Variables)
	}
}

func TestTurnRefusals(t *testing.T) {
	h := openDesk(t)
	for _, tt := range []struct {
		req  host.Turn
		code abi.Code
	}{
		{host.Turn{Agent: "Dessk", Caller: annInS1}, abi.NotFound},
		{host.Turn{Caller: host.Caller{User: "ann", Session: "a b"}}, abi.InvalidArgument},
		{host.Turn{Caller: annInS1, Variables: map[string]any{}}, abi.InvalidArgument},
		{host.Turn{Caller: host.Caller{User: "ann", Session: "s9", Confined: true}}, abi.AccessDenied},
	} {
		if result, err := h.Agents().Turn(t.Context(), tt.req); !errors.Is(err, tt.code) || result.Error == nil || result.OK {
			t.Errorf("Turn(%+v) = %v; want %s", tt.req, err, tt.code)
		}
	}
	files := deskFiles()
	files["desk.abl"].Data = append(files["desk.abl"].Data, "    CALL: nothing(\n"...)
	broken := openDeskFiles(t, files)
	if _, err := broken.Agents().Turn(t.Context(), host.Turn{Caller: annInS1}); !errors.Is(err, abi.SourceInvalid) || abi.FaultOf(err).File != "desk.abl" {
		t.Errorf("a turn of a broken agent = %v; want source_invalid", err)
	}
	if _, err := broken.Run(t.Context(), host.Invocation{Tool: "steal", Caller: ann}); err != nil {
		t.Errorf("a tool next to a broken agent = %v", err)
	}
	if list := h.Agents().List(); len(list) != 1 || list[0].Name != "Desk" || !slices.Equal(list[0].Tools, []string{"boom", "bump", "exit", "slow", "steal"}) ||
		!slices.Equal(list[0].Events, []string{"session:start"}) || len(list[0].Facts) != 3 || list[0].File != "desk.abl" {
		t.Errorf("List = %+v", list)
	}
}

// Concurrent turns of one session have the same effect as sequential turns. If many users' turns
// change the same fact concurrently, they also have the same effect as sequential turns.
func TestConcurrentTurns(t *testing.T) { onBackends(t, testConcurrentTurns) }

func testConcurrentTurns(t *testing.T) {
	const count = 16
	h := openDesk(t)
	var wait sync.WaitGroup
	for i := range count {
		wait.Go(func() { say(t, h, annInS1, "x") })
		wait.Go(func() { say(t, h, host.Caller{User: fmt.Sprint("u", i), Session: fmt.Sprint("t", i)}, "total") })
		wait.Go(func() { say(t, h, host.Caller{User: "bob", Session: fmt.Sprint("b", i)}, "bump") })
	}
	wait.Wait()
	if got := content(t, h, host.Caller{User: "bob"}, abi.GetContent, "notes"); got != fmt.Sprintf(`{"n":%d}`, count) {
		t.Errorf("the tools of %d sessions counted %s", count, got)
	}
	if result := say(t, h, annInS1, "x"); result.Variables["turns"] != count+1.0 {
		t.Errorf("variables = %v; want %d turns", result.Variables, count+1)
	}
	if got := content(t, h, annInS1, abi.GetFact, "project.total"); got != fmt.Sprint(count) {
		t.Errorf("the shared fact is %s; want %d", got, count)
	}
}

// Fire, Check and Store evaluate rules without a turn.
func TestEvaluations(t *testing.T) { onBackends(t, testEvaluations) }

func testEvaluations(t *testing.T) {
	h := openDesk(t)
	fired, err := h.Agents().Fire(t.Context(), host.Turn{Caller: annInS1, Event: "session:start"})
	if err != nil || fired.Injected["user.name"] != "guest" || !fired.OK {
		t.Errorf("Fire = %+v, %v", fired, err)
	}
	stored, err := h.Agents().Store(t.Context(), host.Turn{Caller: annInS1, Variables: map[string]any{"turns": 7.0}})
	if err != nil || stored.Stored["user.most_turns"] != 7.0 || content(t, h, annInS1, abi.GetFact, "user.most_turns") != "7" {
		t.Errorf("Store = %+v, %v", stored, err)
	}
	checked, err := h.Agents().Check(t.Context(), host.Turn{Caller: host.Caller{User: "ann"}, Variables: map[string]any{"turns": 7.0}}, "calling bump")
	if err != nil || checked.Blocked || len(checked.Failures) != 0 || checked.Session != "" {
		t.Errorf("Check = %+v, %v", checked, err)
	}
	if _, err := h.Agents().Check(t.Context(), host.Turn{Caller: annInS1}, "sleeping"); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Check at an unknown checkpoint = %v", err)
	}
}

// The exported data of a user includes the state of agents.
func TestExportAgentState(t *testing.T) { onBackends(t, testExportAgentState) }

func testExportAgentState(t *testing.T) {
	h := openDesk(t)
	say(t, h, annInS1, "bump")
	data, err := h.Memory().UserData(t.Context(), partition.Caller{Tenant: host.DefaultTenant, User: "ann", Run: "export"})
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]bool{}
	err = data.Records(t.Context(), func(r memory.UserRecord) error {
		items[r.Store+" "+r.Item] = true
		return nil
	})
	if err != nil || !items["agents Desk"] || !items["agents session.state"] {
		t.Errorf("the export has %v, %v; want the state of the agent", items, err)
	}
}

// If a call ends a session, the triggers of the session's agent are evaluated. If an agent fails,
// the session nevertheless ends.
func TestSessionEndOfAgents(t *testing.T) { onBackends(t, testSessionEndOfAgents) }

func testSessionEndOfAgents(t *testing.T) {
	files := deskFiles()
	source := strings.Replace(string(files["desk.abl"].Data), "    - ON: session:start\n", "    - ON: session:end\n      ACTION: inject_context\n      PATHS: [user.visits]\n    - ON: session:start\n", 1)
	source = strings.Replace(source, "    - WHEN: turns > 1\n", "    - WHEN: user.visits IS SET\n      STORE: user.visits -> user.seen\n    - WHEN: turns > 1\n", 1)
	files["desk.abl"].Data = []byte(source)
	h := openDeskFiles(t, files)
	say(t, h, annInS1, "x")
	_, _, err := h.Stores().Do(t.Context(), annInS1, memory.Operator(), abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.visits"`), json.RawMessage("3")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sessions().End(t.Context(), host.Caller{Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, h, host.Caller{User: "ann"}, abi.GetFact, "user.seen"); got != "3" {
		t.Errorf("user.seen is %s; want 3, stored at the end of the session", got)
	}
	if _, err := h.Sessions().End(t.Context(), host.Caller{Session: "none"}); !errors.Is(err, abi.NotFound) {
		t.Errorf("the end of a session that does not exist = %v; want not_found", err)
	}
	say(t, h, host.Caller{User: "ann", Session: "s2"}, "x")
	if _, err := h.Sessions().End(t.Context(), host.Caller{User: "bob", Session: "s2"}); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("the end of another user's session = %v", err)
	}
	if s, err := h.Sessions().Get(t.Context(), host.Caller{Session: "s2"}); err != nil || s.Ended != nil || s.User != "ann" {
		t.Errorf("the session = %+v, %v; want it open", s, err)
	}
}

// The turns of a session are executed in the order in which they were requested. The number of
// waiting turns is limited. If a turn stops waiting, it leaves the queue.
func TestTurnsWaitForEachOther(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{}, 1)
	engine := stub{run: func(context.Context, engine.Host) (engine.Output, error) {
		started <- struct{}{}
		<-release
		return engine.Output{Output: json.RawMessage("1")}, nil
	}}
	h := openDesk(t, engine.with(nil))
	bump := "bump"
	var wait sync.WaitGroup
	wait.Go(func() { say(t, h, annInS1, bump) })
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Agents().Turn(ctx, host.Turn{Caller: annInS1}); !errors.Is(err, abi.Cancelled) {
		t.Errorf("a turn that is canceled in the queue = %v; want cancelled", err)
	}
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: annInS1, Timeout: time.Millisecond}); !errors.Is(err, abi.Timeout) {
		t.Errorf("a turn that times out in the queue = %v; want timeout", err)
	}
	if result := say(t, h, host.Caller{User: "bob", Session: "other"}, "kept"); !result.OK {
		t.Errorf("a turn of another session = %+v", result)
	}
	var refused, done atomic.Int32
	var once sync.Once
	for range 40 {
		wait.Go(func() {
			message := "kept"
			switch _, err := h.Agents().Turn(context.Background(), host.Turn{Caller: annInS1, Message: &message}); {
			case errors.Is(err, abi.Unavailable):
				refused.Add(1)
			case err == nil:
				done.Add(1)
			default:
				t.Errorf("a waiting turn = %v", err)
			}
			if refused.Load() == 8 { // all other turns wait
				once.Do(func() { close(release) })
			}
		})
	}
	wait.Wait()
	if refused.Load() != 8 || done.Load() != 32 {
		t.Errorf("%d turns were refused and %d succeeded; want 8 and 32", refused.Load(), done.Load())
	}
	if result := say(t, h, annInS1, "kept"); result.Variables["kept"] != 33.0 {
		t.Errorf("variables = %v", result.Variables)
	}
}

// endedTurns is an observer that records that a turn has ended.
type endedTurns struct {
	host.NopObserver
	ended *atomic.Bool
}

func (o endedTurns) RunEnded(_ context.Context, run host.RunInfo, result *report.Result) {
	if run.Agent == "Desk" && result.OK {
		o.ended.Store(true)
	}
}

// Close waits for running turns. Later turns are refused.
func TestCloseWaitsForTurns(t *testing.T) {
	release, started, ended := make(chan struct{}), make(chan struct{}), &atomic.Bool{}
	h := openDesk(t, func(o *host.Options) { o.Observers = []host.Observer{endedTurns{ended: ended}} })
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := h.Agents().Turn(context.Background(), host.Turn{Caller: annInS1, OnState: func(_ string, state host.RunState) {
			if state == host.RunRunning {
				close(started)
				<-release
			}
		}})
		if err != nil {
			t.Errorf("the turn = %v; want it to end before the host", err)
		}
	})
	<-started
	wait.Go(func() {
		if err := h.Close(); err != nil || !ended.Load() {
			t.Errorf("Close = %v before the turn has ended: %t", err, !ended.Load())
		}
	})
	for {
		if _, err := h.Agents().Turn(t.Context(), host.Turn{Caller: host.Caller{User: "bob", Session: "s2"}}); errors.Is(err, abi.Unavailable) {
			break
		}
	}
	close(release)
	wait.Wait()
}

// All tools of a turn share one limit on log lines.
func TestLogOfTurns(t *testing.T) {
	files := deskFiles()
	for _, name := range []string{"bump.js", "steal.js"} {
		files[name].Data = []byte(`for (let i = 0; i < 8; i++) console.log("line"); return 1`)
	}
	source := strings.Replace(string(files["desk.abl"].Data), "      RESPOND: \"bump: {{call_result}}\"\n", "      CALL: steal()\n", 1)
	files["desk.abl"].Data = []byte(source)
	h := openDeskFiles(t, files, func(o *host.Options) { o.Limits.LogLines = 10 })
	result := say(t, h, annInS1, "bump")
	if len(result.Logs) != 11 || !strings.HasPrefix(result.Logs[10].Text, "log truncated") || result.Logs[9].Text != "line" {
		t.Errorf("the turn has %d log lines: %v; want 10 and one that reports it", len(result.Logs), result.Logs)
	}
}
