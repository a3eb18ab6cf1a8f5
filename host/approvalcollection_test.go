package host_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A new entry has the same id in all executions of a run, so an effect that contains the id can be
// approved. Different runs create different ids.
func TestApprovalOfNewID(t *testing.T) {
	g := newGated(t, mem.New())
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nmemory:\n  notes: {kind: collection, access: user, description: d}\n  refs: {access: user, description: d}\n" +
			"tools:\n  refer: {source: refer.js, description: d, grants: {notes: readwrite, refs: readwrite}, approval: {before: [set_content]}}\n")},
		"refer.js": {Data: []byte(`const a = await memory.remember("notes", "tea"), b = await memory.remember("notes", "milk");
await memory.set_content("refs", {a: a.id, b: b.id}); return [a.id, b.id]`)},
	}
	seen := map[string]bool{}
	for range 2 {
		g.open(files)
		pending := g.pause(host.Invocation{Tool: "refer"})
		g.open(files) // after a restart
		var ids []string
		if err := json.Unmarshal(g.approve(pending.Token, report.Completed).Output, &ids); err != nil {
			t.Fatal(err)
		}
		refs := content(t, g.Host, ann, abi.GetContent, "refs")
		for _, id := range ids {
			if seen[id] || !strings.Contains(string(pending.Effect.Arguments), id) || !strings.Contains(refs, id) {
				t.Errorf("the run created the id %s; want a new id, which was approved in %s and stored in %s", id, pending.Effect.Arguments, refs)
			}
			seen[id] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("the runs created the ids %v; want 4", seen)
	}
}
