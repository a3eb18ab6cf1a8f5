package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory/block"
)

// These are the example entries on the documentation page about blocks.
const (
	coreText     = "- Prefers concise answers with explicit next actions.\n- Works primarily with enterprise renewals in North America."
	archivalText = "- Acme renewal: CFO wants pricing options before the May 12 exec review.\n- Globex implementation: legal approved the DPA on 2026-04-18."
)

var recordsAgent = host.Caller{User: "ann", Agent: "agent_records"}

// openBlocksApp opens an app with blocks. The user ann has the blocks that the documentation shows.
// Each block of the agent agent_records contains one more line.
func openBlocksApp(t *testing.T, files fstest.MapFS, set ...func(*host.Options)) *host.Host {
	t.Helper()
	all := fstest.MapFS{"app.yaml": {Data: []byte("app: crm\nblocks: true\n")}}
	for name, file := range files {
		all[name] = file
	}
	h := openApp(t, all, set...)
	for _, u := range []host.BlockUpdate{
		{Name: "core", Content: coreText}, {Name: "archival", Content: archivalText},
		{Name: "core", Agent: true, Content: "- Answers in tables."}, {Name: "archival", Agent: true, Content: "\n1. Acme pays late."},
	} {
		if _, err := h.Blocks().Update(t.Context(), recordsAgent, u); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func recall(t *testing.T, h *host.Host, caller host.Caller, q host.RecallQuery) []block.Match {
	t.Helper()
	matches, err := h.Blocks().Recall(t.Context(), caller, q)
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

// The first result of the documentation's query must be the line that the documentation shows. The
// result must contain the scope and the position of the line.
func TestRecall(t *testing.T) {
	h := openBlocksApp(t, nil)
	matches := recall(t, h, recordsAgent, host.RecallQuery{Query: "Acme renewal", Agent: true})
	if len(matches) != 2 {
		t.Fatalf("matches = %+v; want the lines about Acme", matches)
	}
	first, second := matches[0], matches[1]
	if first.Content != "Acme renewal: CFO wants pricing options before the May 12 exec review." || first.Score != 1 ||
		first.Name != "archival" || first.Scope != block.ScopeUser || first.Agent != nil || first.Line != 1 || first.Updated == "" {
		t.Errorf("the first match is %+v", first)
	}
	if second.Content != "Acme pays late." || second.Scope != block.ScopeAgent || second.Agent == nil || *second.Agent != "agent_records" || second.Line != 2 {
		t.Errorf("the second match is %+v", second)
	}
	if user := recall(t, h, host.Caller{User: "ann"}, host.RecallQuery{Query: "Acme renewal"}); len(user) != 1 || user[0].Scope != block.ScopeUser {
		t.Errorf("without an agent, matches = %+v; want the line of the user", user)
	}
	if core := recall(t, h, recordsAgent, host.RecallQuery{Query: "enterprise renewals", Agent: true}); len(core) != 1 || core[0].Name != "archival" {
		t.Errorf("matches = %+v; want no line of core", core)
	}
	if none := recall(t, h, host.Caller{User: "bob"}, host.RecallQuery{Query: "Acme"}); none == nil || len(none) != 0 {
		t.Errorf("the matches of another user = %+v; want an empty list", none)
	}
}

func TestRecallOptions(t *testing.T) {
	h := openBlocksApp(t, nil)
	if got := recall(t, h, recordsAgent, host.RecallQuery{Query: "Acme renewal", Agent: true, Limit: 1}); len(got) != 1 {
		t.Errorf("%d matches; the limit is 1", len(got))
	}
	if got := recall(t, h, recordsAgent, host.RecallQuery{Query: "Acme renewal", Agent: true, MinScore: 0.9}); len(got) != 1 || got[0].Line != 1 {
		t.Errorf("matches = %+v; want only the line with both words", got)
	}
	for name, q := range map[string]host.RecallQuery{
		"no query": {}, "blank query": {Query: " \n"}, "negative limit": {Query: "a", Limit: -1}, "high limit": {Query: "a", Limit: block.MaxLimit + 1},
		"high score": {Query: "a", MinScore: 1.5},
	} {
		if _, err := h.Blocks().Recall(t.Context(), host.Caller{User: "ann"}, q); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("%s: error = %v; want invalid_argument", name, err)
		}
	}
	if _, err := h.Blocks().Recall(t.Context(), host.Caller{User: "ann"}, host.RecallQuery{Query: strings.Repeat("a ", block.MaxQueryBytes)}); !errors.Is(err, abi.TooLarge) {
		t.Errorf("a long query: error = %v; want too_large", err)
	}
	if _, err := h.Blocks().Recall(t.Context(), host.Caller{}, host.RecallQuery{Query: "a"}); !errors.Is(err, abi.NoUser) {
		t.Errorf("without a user: error = %v; want no_user", err)
	}
	if _, err := h.Blocks().Recall(t.Context(), host.Caller{User: "ann"}, host.RecallQuery{Query: "a", Agent: true}); !errors.Is(err, abi.NoAgent) {
		t.Errorf("without an agent: error = %v; want no_agent", err)
	}
}

// A tool searches a block only if the block is granted to the tool and belongs to the caller's
// user.
func TestRecallGrants(t *testing.T) {
	h := openBlocksApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(`
app: crm
blocks: {projects: {use: recall}, style: {use: context}}
tools:
  all: {source: find.js, grants: {archival: read, projects: read, core: read}}
  own: {source: find.js, grants: {projects: read}}
  core: {source: find.js, grants: {core: read, style: readwrite}}
  none: {source: find.js}
`)},
		"find.js": {Data: []byte(`return (await memory.recall("Acme", {limit: 5, agent: $agent ?? false})).results.map((r) => r.block_type + ":" + r.line_number);`)},
	})
	if _, err := h.Blocks().Update(t.Context(), recordsAgent, host.BlockUpdate{Name: "projects", Content: "- Acme: migration"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, input, want string }{
		{"all", `{}`, `["projects:1","archival:1"]`},
		{"all", `{"agent": true}`, `["projects:1","archival:2","archival:1"]`},
		{"own", `{}`, `["projects:1"]`},
	} {
		result, err := h.Run(t.Context(), host.Invocation{Tool: c.tool, Caller: recordsAgent, Input: []byte(c.input)})
		if err != nil || string(result.Output) != c.want {
			t.Errorf("%s(%s) = %s, %v; want %s", c.tool, c.input, result.Output, err, c.want)
		}
		if len(result.Effects.Reads) == 0 {
			t.Errorf("%s(%s) has no read among its effects", c.tool, c.input)
		}
	}
	for _, tool := range []string{"core", "none"} {
		if result, _ := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: recordsAgent, Input: []byte(`{}`)}); result.Error == nil || result.Error.Code != abi.NotFound {
			t.Errorf("%s: error = %v; want not_found", tool, result.Error)
		}
	}
}

// All languages have the operation recall. If a run writes a line, a later recall in the same run
// finds the line.
func TestRecallInEngines(t *testing.T) {
	h := openBlocksApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte("app: crm\nblocks: true\ntools:\n" +
			"  py: {source: find.py, grants: {archival: readwrite}}\n  js: {source: find.js, grants: {archival: readwrite}}\n")},
		"find.py": {Data: []byte(`
before = memory.get_block("archival")
memory.update_block("archival", before["content"] + "\n- Initech: SAML", {"expected_updated_at": before["updated_at"]})
found = memory.recall("SAML", {"limit": 1})["results"]
return [found[0]["line_number"], found[0]["score"], len(memory.recall(query="Acme", options={"agent": True})["results"])]
`)},
		"find.js": {Data: []byte(`
			const before = await memory.get_block("archival");
			await memory.update_block("archival", before.content + "\n- Initech: SAML", {expected_updated_at: before.updated_at});
			const found = (await memory.recall("SAML", {limit: 1})).results;
			return [found[0].line_number, found[0].score, (await memory.recall({query: "Acme", options: {agent: true}})).results.length];`)},
	}, withPython(t))
	for _, tool := range []string{"js", "py"} {
		result, err := h.Run(t.Context(), host.Invocation{Tool: tool, Caller: recordsAgent, DryRun: true})
		if got := strings.ReplaceAll(string(result.Output), "1.0", "1"); err != nil || got != "[3,1,2]" {
			t.Errorf("%s = %s, %v; want [3,1,2]", tool, result.Output, err)
		}
	}
}

func contextOf(t *testing.T, h *host.Host, caller host.Caller, message string, p host.MemoryPolicy) host.MemoryContext {
	t.Helper()
	c, err := h.Blocks().Context(t.Context(), caller, message, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A policy determines which blocks go into a prompt. By default, a prompt contains the user's block
// "core" and the agent's block "core", and nothing is searched.
func TestMemoryContext(t *testing.T) {
	h := openBlocksApp(t, nil)
	no, half := false, 0.6
	const userCore, agentCore = "# core\n" + coreText, "# core (agent agent_records)\n- Answers in tables."
	const acme = "Acme renewal: CFO wants pricing options before the May 12 exec review."
	for _, c := range []struct {
		name      string
		caller    host.Caller
		policy    host.MemoryPolicy
		text      string
		reminders []string
	}{
		{"default", recordsAgent, host.MemoryPolicy{}, userCore + "\n\n" + agentCore, nil},
		{"no agent", host.Caller{User: "ann"}, host.MemoryPolicy{}, userCore, nil},
		{"other agent", host.Caller{User: "ann", Agent: "agent_emails"}, host.MemoryPolicy{}, userCore, nil},
		{"other user", host.Caller{User: "bob", Agent: "agent_records"}, host.MemoryPolicy{ArchivalMode: host.ArchivalAuto}, "", nil},
		{"no user core", recordsAgent, host.MemoryPolicy{IncludeUserCore: &no}, agentCore, nil},
		{"no agent core", recordsAgent, host.MemoryPolicy{IncludeAgentCore: &no}, userCore, nil},
		{"off", recordsAgent, host.MemoryPolicy{ArchivalMode: host.ArchivalOff, IncludeAgentCore: &no}, userCore, nil},
		{"tool_only", recordsAgent, host.MemoryPolicy{ArchivalMode: host.ArchivalToolOnly, IncludeAgentCore: &no}, userCore, nil},
		{"auto", recordsAgent, host.MemoryPolicy{ArchivalMode: host.ArchivalAuto, IncludeUserCore: &no, IncludeAgentCore: &no}, "", []string{acme, "Acme pays late."}},
		{"auto without an agent", host.Caller{User: "ann"}, host.MemoryPolicy{ArchivalMode: host.ArchivalAuto, IncludeUserCore: &no}, "", []string{acme}},
		{"limit", recordsAgent, host.MemoryPolicy{ArchivalMode: host.ArchivalAuto, ArchivalLimit: 1, IncludeUserCore: &no, IncludeAgentCore: &no}, "", []string{acme}},
		{"minimum score", recordsAgent, host.MemoryPolicy{ArchivalMode: host.ArchivalAuto, ArchivalMinScore: &half, IncludeUserCore: &no, IncludeAgentCore: &no}, "", []string{acme}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := contextOf(t, h, c.caller, "What about the Acme renewal?", c.policy)
			if got.UserMemory != c.text || !slices.Equal(got.SystemReminders, c.reminders) || got.SystemReminders == nil {
				t.Errorf("Context = %q, %q; want %q, %q", got.UserMemory, got.SystemReminders, c.text, c.reminders)
			}
		})
	}
}

func TestMemoryPolicyChecks(t *testing.T) {
	h := openBlocksApp(t, nil)
	high := 1.5
	for name, p := range map[string]host.MemoryPolicy{
		"mode": {ArchivalMode: "always"}, "negative limit": {ArchivalLimit: -1}, "high limit": {ArchivalLimit: block.MaxLimit + 1}, "score": {ArchivalMinScore: &high},
	} {
		if _, err := h.Blocks().Context(t.Context(), recordsAgent, "", p); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("%s: error = %v; want invalid_argument", name, err)
		}
	}
	if _, err := h.Blocks().Context(t.Context(), recordsAgent, strings.Repeat("a", block.MaxQueryBytes+1), host.MemoryPolicy{}); !errors.Is(err, abi.TooLarge) {
		t.Errorf("a long message: error = %v; want too_large", err)
	}
}

// If blocks are granted to a prompt, the prompt can contain the memory of the user and the text of
// a block.
func TestUserMemoryInPrompts(t *testing.T) {
	h := openBlocksApp(t, fstest.MapFS{"app.yaml": {Data: []byte(`
app: crm
blocks: true
prompts:
  both: {template: "[{{memory.user_memory}}]", grants: {core: read, archival: read}}
  text: {template: "[{{memory.core}}]", grants: {core: read}}
  ungranted: {template: "{{memory.user_memory}}", grants: {archival: read}}
  missing: {template: "[{{memory.archival}}]", grants: {archival: read}}
`)}})
	no := false
	for _, c := range []struct {
		prompt    string
		policy    host.MemoryPolicy
		text      string
		reminders int
	}{
		{"both", host.MemoryPolicy{}, "[# core\n" + coreText + "\n\n# core (agent agent_records)\n- Answers in tables.]", 0},
		{"both", host.MemoryPolicy{IncludeUserCore: &no, ArchivalMode: host.ArchivalAuto}, "[# core (agent agent_records)\n- Answers in tables.]", 2},
		{"text", host.MemoryPolicy{ArchivalMode: host.ArchivalAuto}, "[" + coreText + "]", 0},
	} {
		got, err := h.RenderPrompt(t.Context(), host.PromptRequest{Prompt: c.prompt, Caller: recordsAgent, MemoryPolicy: c.policy, Message: "Acme"})
		if err != nil || got.Text != c.text || len(got.SystemReminders) != c.reminders {
			t.Errorf("%s = %q, %q, %v; want %q and %d reminders", c.prompt, got.Text, got.SystemReminders, err, c.text, c.reminders)
		}
	}
	if _, err := h.Render(t.Context(), recordsAgent, "ungranted"); !errors.Is(err, abi.NotFound) || !strings.Contains(err.(*abi.Fault).Hint, "core: read") {
		t.Errorf("a prompt without a grant: error = %v; want not_found with a hint", err)
	}
	if got, err := h.RenderPrompt(t.Context(), host.PromptRequest{Prompt: "missing", Caller: host.Caller{User: "bob"}}); err != nil || got.Text != "[]" || len(got.Missing) != 1 {
		t.Errorf("a block that does not exist = %+v, %v; want an empty text", got, err)
	}
	if got, err := h.RenderText(t.Context(), recordsAgent, "{{memory.user_memory}}"); err != nil || !strings.Contains(got, "tables") {
		t.Errorf("a template of an operator = %q, %v", got, err)
	}
	if _, err := h.RenderPrompt(t.Context(), host.PromptRequest{Prompt: "both", Caller: recordsAgent, MemoryPolicy: host.MemoryPolicy{ArchivalMode: "x"}}); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("an invalid policy: error = %v; want invalid_argument", err)
	}
}

// TestPromptWithoutGrant renders a prompt that lacks a grant. The fault must contain the word
// "block" if a block is not granted, and the word "store" if a store is not granted.
func TestPromptWithoutGrant(t *testing.T) {
	h := openApp(t, fstest.MapFS{"app.yaml": {Data: []byte(`app: shop
blocks: true
memory: {visits: {access: user}}
prompts:
  core: {template: "{{memory.core}}", grants: {archival: read}}
  visits: {template: "{{memory.visits.count}}", grants: {archival: read}}
`)}})
	for prompt, want := range map[string]string{
		"core": `the block "core" does not exist or was not granted to the prompt`, "visits": `the store "visits" does not exist or was not granted to the prompt`,
	} {
		_, err := h.Render(t.Context(), host.Caller{User: "ann"}, prompt)
		if f := abi.FaultOf(err); f.Message != want || !strings.HasSuffix(f.Hint, "`grants: {"+prompt+": read}`") {
			t.Errorf("Render(%s) = %+v; want %s", prompt, f, want)
		}
	}
}
