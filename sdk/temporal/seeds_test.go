package temporal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/sdk/temporal"
)

// seedScript returns the JavaScript sample of the vendor's documentation page that reads, updates
// and deletes a record.
func seedScript(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "seeds", "004_agentic_apps_memory_stores.txt"))
	if err != nil {
		t.Skip("the documentation page with the samples is not next to the project")
	}
	_, block, found := strings.Cut(string(page), "```javascript")
	if !found {
		t.Fatal("the page has no JavaScript sample")
	}
	_, block, _ = strings.Cut(block, "\n") // skip the line with the language
	block, _, _ = strings.Cut(block, "```")
	return block
}

// The documented sample works in function nodes. The first node runs the sample up to the deletion,
// and the second node runs the whole sample.
func TestDocumentedSampleInNodes(t *testing.T) {
	script := seedScript(t)
	update, _, found := strings.Cut(script, "// Delete memory content")
	if !found {
		t.Fatal("the sample deletes nothing")
	}
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(`app: shop
memory: {userPrefs: {access: user, retention: 1_month}}
tools:
  update: {source: update.js, grants: {userPrefs: readwrite}}
  whole: {source: whole.js, grants: {userPrefs: readwrite}}
`)},
		"update.js": {Data: []byte(update + "\nreturn partial;")},
		"whole.js":  {Data: []byte(script)},
	}, "app.yaml")
	if declared == nil {
		t.Fatal(problems)
	}
	h, err := host.Open(t.Context(), host.Options{App: declared, Backend: mem.New(), Engines: []engine.Engine{js.New()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	perform := func(op string, args ...json.RawMessage) string {
		content, _, err := h.Stores().Do(t.Context(), host.Caller{User: "ann"}, memory.Operator(), abi.Call{Op: op, Args: append([]json.RawMessage{json.RawMessage(`"userPrefs"`)}, args...)})
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	node := func(tool string) temporal.Result {
		env := environment(temporal.NewActivities(h, temporal.Options{}).RunTool, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: tool, TaskQueue: "nodes"}) // otherwise the second node would be a retry
		env.ExecuteWorkflow("node", temporal.Request{Tool: tool, User: "ann"})
		var result temporal.Result
		if err := env.GetWorkflowResult(&result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	perform(abi.SetContent, json.RawMessage(`{"preferences":{"language":"fr"},"recentOrders":["a1"],"lastVisit":"2026-01-01T00:00:00Z"}`))
	if result := node("update"); string(result.Output) != `{"lastVisit":"2026-01-01T00:00:00Z","preferences":{"language":"fr"}}` {
		t.Errorf("the node reads %s; want the projection", result.Output)
	}
	if got := perform(abi.GetContent); !strings.Contains(got, `"preferences":{"language":"en","notifications":true},"recentOrders":["a1"]`) {
		t.Errorf("after the update the store contains %s", got)
	}
	node("whole")
	if got := perform(abi.GetContent); got != "null" {
		t.Errorf("after the deletion the store contains %s", got)
	}
}
