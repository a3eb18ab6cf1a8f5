package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
)

const library = `
app: library
memory:
  diary: {kind: collection, access: user, description: What the user read, expose: recall}
  chat: {kind: collection, access: session, expose: recall}
  hidden: {kind: collection, access: user}
  articles: {kind: collection, access: application}
`

// openLibrary opens an app with collections.
func openLibrary(t *testing.T, more string, files fstest.MapFS) *host.Host {
	t.Helper()
	all := fstest.MapFS{"app.yaml": {Data: []byte(library + more)}}
	for name, f := range files {
		all[name] = f
	}
	a, problems := app.Load(all, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return open(t, a)
}

// remember stores an entry as an operator.
func remember(t *testing.T, h *host.Host, caller host.Caller, collection, namespace, content, metadata string) {
	t.Helper()
	text, err := json.Marshal(content)
	if err == nil {
		_, err = host.CollectionsOf(h).Remember(t.Context(), caller, collection, host.NewEntry{Namespace: namespace, Content: text, Metadata: json.RawMessage(metadata)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A client can search the entries of its own user, but not the entries of another user.
func TestRecallCollection(t *testing.T) {
	h := openLibrary(t, "", nil)
	for _, user := range []string{"ann", "bob"} {
		remember(t, h, host.Caller{User: user}, "diary", "", user+" read about tea", `{"year":2026}`)
		remember(t, h, host.Caller{User: user}, "diary", "old", user+" read about old tea", `{"year":2020}`)
	}
	ann := client(t, h, host.Caller{User: "ann"})
	if got := strings.Join(toolNames(t, ann), " "); got != "recall_collection" {
		t.Fatalf("the tools are %s", got)
	}
	for _, tt := range []struct {
		input map[string]any
		want  string // "" for no results
	}{
		{map[string]any{"collection": "diary", "query": "tea"}, "ann read about tea"},
		{map[string]any{"collection": "diary", "query": "tea", "limit": 1, "threshold": 0.01, "filter": map[string]any{"year": 2026}}, "ann read about tea"},
		{map[string]any{"collection": "diary", "query": "tea", "namespace": "old"}, "ann read about old tea"},
		{map[string]any{"collection": "diary", "query": "tea", "filter": map[string]any{"year": 2020}}, ""},
		{map[string]any{"collection": "chat", "query": "tea"}, ""},
	} {
		found := call(t, ann, "recall_collection", tt.input)
		got := text(t, found)
		if found.IsError || tt.want == "" && got != `{"results":[]}` || !strings.Contains(got, tt.want) || strings.Contains(got, "bob") {
			t.Errorf("recall_collection(%v) = %s; want %q", tt.input, got, tt.want)
		}
	}
}

// The input of recall_collection is checked. Clients cannot search the entries that belong to the
// app.
func TestRecallCollectionMistakes(t *testing.T) {
	h := openLibrary(t, "", nil)
	remember(t, h, host.Caller{}, "articles", "", "tea of the app", "")
	c := client(t, h, host.Caller{User: "ann"})
	for _, input := range []any{
		nil,
		map[string]any{"query": "tea"},
		map[string]any{"collection": "diary"},
		map[string]any{"collection": "diary", "query": ""},
		map[string]any{"collection": "diary", "query": 5},
		map[string]any{"collection": "articles", "query": "tea"},
		map[string]any{"collection": "hidden", "query": "tea"},
		map[string]any{"collection": "Diary", "query": "tea"},
		map[string]any{"collection": "missing", "query": "tea"},
		map[string]any{"collection": "diary", "query": "tea", "user": "bob"},
		map[string]any{"collection": "diary", "QUERY": "tea"},
		map[string]any{"collection": "diary", "query": "tea", "limit": 0},
		map[string]any{"collection": "diary", "query": "tea", "limit": 101},
		map[string]any{"collection": "diary", "query": "tea", "limit": 1.5},
		map[string]any{"collection": "diary", "query": "tea", "threshold": -1},
		map[string]any{"collection": "diary", "query": "tea", "threshold": 2},
		map[string]any{"collection": "diary", "query": "tea", "filter": nil},
		map[string]any{"collection": "diary", "query": "tea", "filter": "year"},
	} {
		if result := call(t, c, "recall_collection", input); !result.IsError || !strings.HasPrefix(text(t, result), "input_invalid: ") {
			t.Errorf("recall_collection(%v) = %s; want input_invalid", input, text(t, result))
		}
	}
}

// If the client has no user, or if the app exposes no collection, no tool for collections exists.
// If a tool of the app has the name recall_collection, this tool replaces the tool for collections.
func TestNoRecallCollection(t *testing.T) {
	h := openLibrary(t, "", nil)
	anonymous := client(t, h, host.Caller{})
	if got := toolNames(t, anonymous); len(got) > 0 {
		t.Errorf("the tools without a user are %q", got)
	}
	if _, err := anonymous.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall_collection", Arguments: map[string]any{"collection": "diary", "query": "x"}}); err == nil {
		t.Error("a client without a user can call recall_collection")
	}
	shared := openNotes(t, "memory: {articles: {kind: collection, access: application}, hidden: {kind: collection, access: user}}\n", nil)
	if got := strings.Join(toolNames(t, client(t, shared, host.Caller{User: "ann"})), " "); got != "recall_memory update_memory" {
		t.Errorf("the tools of an app that exposes no collection are %s", got)
	}
	own := openLibrary(t, "tools: {recall_collection: {source: own.js}}\n", fstest.MapFS{"own.js": {Data: []byte(`return "own"`)}})
	if got := text(t, call(t, client(t, own, host.Caller{User: "ann"}), "recall_collection", nil)); got != `"own"` {
		t.Errorf("recall_collection = %s; want the tool of the app", got)
	}
}
