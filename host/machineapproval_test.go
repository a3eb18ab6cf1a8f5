package host_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A step of a machine that requires an approval pauses the run. The content of its entry contains the
// time, which is the same after the approval.
func TestApprovalOfMachine(t *testing.T) {
	g := newGated(t, mem.New())
	g.open(fstest.MapFS{
		"app.yaml": {Data: []byte("app: notes\nmemory:\n  kb: {kind: collection, access: user, description: d}\ntools:\n  note: {source: note.machine, description: d}\n")},
		"note.machine": {Data: []byte(`machine note
  accepts
    text as text, is required
  ensures
    permissions
      allowed to memory
      requires approval for remember
  implements
    remember entry
      content: input.text + " at " + now()
      collection: "kb"
`)},
	})
	pending := g.pause(host.Invocation{Tool: "note", Input: json.RawMessage(`{"text":"tea"}`)})
	if pending.Effect.Operation != "remember" || !strings.Contains(string(pending.Effect.Arguments), "tea at ") {
		t.Errorf("the effect is %+v", pending.Effect)
	}
	if done := g.approve(pending.Token, report.Completed); len(done.Effects.Writes) == 0 {
		t.Errorf("the Result is %+v; want a write", done)
	}
}
