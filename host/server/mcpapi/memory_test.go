package mcpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
)

// rememberer is an app with blocks.
var rememberer = fstest.MapFS{
	"app.yaml": {Data: []byte("app: notes\nblocks: {goals: {use: context, description: What the user wants}}\n")},
}

// openNotes opens an app with blocks and the given additional declarations.
func openNotes(t *testing.T, more string, files fstest.MapFS) *host.Host {
	t.Helper()
	all := fstest.MapFS{"app.yaml": {Data: append(slices.Clone(rememberer["app.yaml"].Data), more...)}}
	for name, f := range files {
		all[name] = f
	}
	a, problems := app.Load(all, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return open(t, a)
}

// toolNames lists the names of the tools that a client sees.
func toolNames(t *testing.T, c *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// readBlock reads a block as a resource.
func readBlock(t *testing.T, c *mcp.ClientSession, uri string) (b struct{ Content, Updated string }) {
	t.Helper()
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	var found *struct {
		Content string `json:"content"`
		Updated string `json:"updated_at"`
	}
	if err := json.Unmarshal([]byte(read.Contents[0].Text), &found); err != nil {
		t.Fatal(err)
	}
	if found != nil {
		b.Content, b.Updated = found.Content, found.Updated
	}
	return b
}

// blockResources lists the resources that a client sees.
func blockResources(t *testing.T, c *mcp.ClientSession) (names []string) {
	t.Helper()
	for _, uri := range resources(t, c) {
		names = append(names, strings.TrimPrefix(uri, "toolrun://notes/memory/"))
	}
	return names
}

func TestMemoryTools(t *testing.T) {
	h := openNotes(t, "", nil)
	ann, bob := client(t, h, host.Caller{User: "ann"}), client(t, h, host.Caller{User: "bob"})
	if got := strings.Join(toolNames(t, ann), " "); got != "recall_memory update_memory" {
		t.Fatalf("the tools are %s", got)
	}
	const core = "toolrun://notes/memory/blocks/user/core"
	if b := readBlock(t, ann, core); b.Updated != "" {
		t.Errorf("a block that does not exist = %+v", b)
	}
	created := call(t, ann, "update_memory", map[string]any{"block": "core", "content": "- Prefers tea"})
	content, _ := created.StructuredContent.(map[string]any)
	if created.IsError || content["content"] != "- Prefers tea" || content["scope"] != "user" {
		t.Fatalf("a new block = %s, %v", text(t, created), content)
	}
	found := readBlock(t, ann, core)
	if found.Content != "- Prefers tea" || found.Updated != content["updated_at"] {
		t.Errorf("the resource = %+v; want %v", found, content)
	}
	conflict := call(t, ann, "update_memory", map[string]any{"block": "core", "content": "- Prefers milk", "expected_updated_at": nil})
	if !conflict.IsError || len(conflict.Content) != 2 || !strings.HasPrefix(conflict.Content[0].(*mcp.TextContent).Text, "conflict: ") {
		t.Fatalf("a write over an existing block = %+v; want a conflict", conflict)
	}
	if current := conflict.Content[1].(*mcp.TextContent).Text; !strings.Contains(current, "Prefers tea") || !strings.Contains(current, found.Updated) {
		t.Errorf("the conflict shows %s; want the current block", current)
	}
	merged := call(t, ann, "update_memory", map[string]any{"block": "core", "content": "- Prefers tea and milk", "expected_updated_at": found.Updated})
	if merged.IsError || readBlock(t, ann, core).Content != "- Prefers tea and milk" {
		t.Errorf("the merged write = %s", text(t, merged))
	}
	if b := readBlock(t, bob, core); b.Updated != "" {
		t.Errorf("another user reads %+v", b)
	}
	call(t, ann, "update_memory", map[string]any{"block": "archival", "content": "- Globex: signed\n- Acme renewal: in May"})
	recalled := call(t, ann, "recall_memory", map[string]any{"query": "Acme renewal", "limit": 1})
	if got := text(t, recalled); recalled.IsError || !strings.Contains(got, "Acme renewal: in May") || !strings.Contains(got, `"line_number":2`) || strings.Contains(got, "Globex") {
		t.Errorf("recall_memory = %s", got)
	}
	if got := text(t, call(t, bob, "recall_memory", map[string]any{"query": "Acme renewal"})); got != `{"results":[]}` {
		t.Errorf("recall_memory of another user = %s", got)
	}
}

// The server checks the inputs of the tools for blocks. If a call fails, the response is a result
// that contains the error.
func TestMemoryToolMistakes(t *testing.T) {
	c := client(t, openNotes(t, "", nil), host.Caller{User: "ann"})
	for _, tt := range []struct {
		tool, code string
		input      any
	}{
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": 5}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "user": "bob"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "expected_updated_at": "today"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": nil}},
		{"update_memory", "input_invalid: ", map[string]any{"content": "x"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "scope": "agents"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "scope": ""}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "expected_updated_at": "0001-01-01T00:00:00Z"}},
		{"update_memory", "input_invalid: ", map[string]any{"Block": "core", "content": "x"}},
		{"update_memory", "input_invalid: ", map[string]any{"block": "core", "content": "x", "CONTENT": "y"}},
		{"recall_memory", "input_invalid: ", map[string]any{"Query": "tea"}},
		{"recall_memory", "input_invalid: ", map[string]any{"query": "tea", "limit": 0}},
		{"recall_memory", "invalid_argument: ", map[string]any{"query": "tea", "limit": 101}},
		{"recall_memory", "invalid_argument: ", map[string]any{"query": "tea", "min_score": 2}},
		{"update_memory", "not_found: ", map[string]any{"block": "nothing", "content": "x"}},
		{"update_memory", "no_agent: ", map[string]any{"block": "core", "content": "x", "scope": "agent"}},
		{"update_memory", "too_large: ", map[string]any{"block": "core", "content": strings.Repeat("x", 4001)}},
		{"recall_memory", "invalid_argument: ", nil},
		{"recall_memory", "input_invalid: ", map[string]any{"query": "tea", "user": "bob"}},
		{"recall_memory", "invalid_argument: ", map[string]any{"query": ""}},
	} {
		if result := call(t, c, tt.tool, tt.input); !result.IsError || !strings.HasPrefix(result.Content[0].(*mcp.TextContent).Text, tt.code) {
			t.Errorf("%s(%v) = %+v; want %s", tt.tool, tt.input, result.Content[0], tt.code)
		}
	}
	if b := readBlock(t, c, "toolrun://notes/memory/blocks/user/core"); b.Updated != "" {
		t.Errorf("after refused calls, the block is %+v; want none", b)
	}
}

// A client that acts for an agent can also use the blocks of this agent.
func TestMemoryOfAgent(t *testing.T) {
	h := openNotes(t, "", nil)
	plain, agent := client(t, h, host.Caller{User: "ann"}), client(t, h, host.Caller{User: "ann", Agent: "agent_records"})
	if got := blockResources(t, plain); !slices.Equal(got, []string{"blocks/user/archival", "blocks/user/core", "blocks/user/goals", "sessionMeta"}) {
		t.Errorf("the resources are %q", got)
	}
	if got := blockResources(t, agent); !slices.Contains(got, "blocks/agent/core") || len(got) != 7 {
		t.Errorf("with an agent the resources are %q", got)
	}
	if r := call(t, agent, "update_memory", map[string]any{"block": "archival", "content": "- Acme renewal: in May", "scope": "agent"}); r.IsError {
		t.Fatal(text(t, r))
	}
	if b := readBlock(t, agent, "toolrun://notes/memory/blocks/agent/archival"); b.Content == "" {
		t.Errorf("the block of the agent = %+v", b)
	}
	if b := readBlock(t, agent, "toolrun://notes/memory/blocks/user/archival"); b.Content != "" {
		t.Errorf("the block of the user = %+v", b)
	}
	if got := text(t, call(t, agent, "recall_memory", map[string]any{"query": "Acme"})); !strings.Contains(got, `"agent_id":"agent_records"`) {
		t.Errorf("recall_memory with the agent = %s", got)
	}
	if got := text(t, call(t, plain, "recall_memory", map[string]any{"query": "Acme"})); got != `{"results":[]}` {
		t.Errorf("recall_memory without the agent = %s", got)
	}
}

// If the client has no user, or if the app has no blocks, there are no tools for blocks. If a tool
// of the app has the name of a tool for blocks, clients see only the app's tool.
func TestNoMemoryTools(t *testing.T) {
	h := openNotes(t, "", nil)
	anonymous := client(t, h, host.Caller{})
	if got := toolNames(t, anonymous); len(got) > 0 {
		t.Errorf("the tools without a user are %q", got)
	}
	if got := blockResources(t, anonymous); !slices.Equal(got, []string{"sessionMeta"}) {
		t.Errorf("the resources without a user are %q", got)
	}
	if _, err := anonymous.CallTool(t.Context(), &mcp.CallToolParams{Name: "update_memory", Arguments: map[string]any{"block": "core", "content": "x"}}); err == nil {
		t.Error("a client without a user can call update_memory")
	}
	if got := toolNames(t, client(t, openShop(t), host.Caller{User: "ann"})); slices.Contains(got, "update_memory") {
		t.Errorf("the tools of an app without blocks are %q", got)
	}
	own := openNotes(t, "tools: {update_memory: {source: own.js}}\n", fstest.MapFS{"own.js": {Data: []byte(`return "own"`)}})
	if got := text(t, call(t, client(t, own, host.Caller{User: "ann"}), "update_memory", nil)); got != `"own"` {
		t.Errorf("update_memory = %s; want the tool of the app", got)
	}
}

// TestMemoryLimits checks that the limits of the blocks are in the description of update_memory,
// and also in the descriptions of the resources.
func TestMemoryLimits(t *testing.T) {
	h := openNotes(t, "", nil)
	ann := client(t, h, host.Caller{User: "ann"})
	tools, err := ann.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := ann.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, list := range map[string]any{"tools": tools, "resources": listed} {
		text, err := json.Marshal(list)
		if err != nil || !strings.Contains(string(text), "at most 4000 characters and 20 lines.") || !strings.Contains(string(text), "at most 8000 characters.") {
			t.Errorf("the %s do not contain the limits: %s, %v", what, text, err)
		}
	}
}
