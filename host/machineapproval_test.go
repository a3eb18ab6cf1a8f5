package host_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// If a step of a machine requires an approval, the step pauses the run. The entry that the step
// stores contains the start time of the run, even if the run is approved later.
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
	if pending.Step != "entry" || pending.Effect.Location != "note.machine:9" || pending.Effect.Operation != "remember" || !strings.Contains(string(pending.Effect.Arguments), "tea at ") {
		t.Errorf("the effect is %+v", pending.Effect)
	}
	if done := g.approve(pending.Token, report.Completed); len(done.Effects.Writes) == 0 {
		t.Errorf("the Result is %+v; want a write", done)
	}
}

const governed = `machine governed
  ensures
    permissions
      allowed to memory, llm_call
      requires approval for memory
  implements
    compute text
      {value: "tea"}
    recall found
      query: text.value
      collection: "kb"
    ask answer, using: "local"
      with task "What is ${text.value}?"
    remember first
      content: answer.text
      collection: "kb"
      id: "same"
    remember second
      content: answer.text
      collection: "kb"
      id: "same"
`

// Each approval contains the name of the step that makes the call. If two steps make equal calls,
// each approval nevertheless contains the name of the right step.
func TestStepsOfApprovals(t *testing.T) {
	g := newGated(t, mem.New())
	g.open(fstest.MapFS{
		"app.yaml":         {Data: []byte("app: notes\nmemory:\n  kb: {kind: collection, access: user, description: d}\ntools:\n  tool: {source: governed.machine, description: d}\n")},
		"governed.machine": {Data: []byte(governed)},
	})
	pending := g.pause(host.Invocation{})
	for _, want := range []string{
		"recall in the step found (governed.machine:9)", "remember in the step first (governed.machine:14)", "remember in the step second (governed.machine:18)",
	} {
		if got := pending.Effect.Describe(pending.Step); got != want {
			t.Errorf("the effect is %q; want %q", got, want)
		}
		listed, err := g.Approvals().Get(t.Context(), approver, pending.Token)
		if err != nil || listed.Binding.Step != pending.Step || listed.Effect.Location != pending.Effect.Location {
			t.Errorf("Get = %+v, %v; want the step", listed, err)
		}
		result, err := g.Approvals().Approve(t.Context(), approver, pending.Token)
		if err != nil {
			t.Fatal(err)
		}
		pending = result.Approval
	}
	if pending != nil {
		t.Errorf("the run is paused again: %+v", pending)
	}
}

// If a request contains the source text of a machine, the approvals that this text declares are
// required.
func TestApprovalOfAdHocMachine(t *testing.T) {
	g := newGated(t, mem.New())
	g.open(fstest.MapFS{"app.yaml": {Data: []byte("app: notes\nmemory:\n  kb: {kind: collection, access: user, description: d}\n")}})
	text := strings.Replace(strings.Replace(governed, `    ask answer, using: "local"
      with task "What is ${text.value}?"
`, "", 1), "answer.text", "text.value", 2)
	pending := g.pause(host.Invocation{Code: &host.AdHocTool{Language: "machine", Text: text, Grants: []declare.Grant{declare.GrantOn("kb", abi.Read, abi.Write)}}})
	if pending.Step != "found" || pending.Effect.Location != "code.machine:9" {
		t.Errorf("the approval is %+v; want the first step", pending)
	}
	for _, want := range []report.Status{report.Paused, report.Paused, report.Completed} {
		if result := g.approve(pending.Token, want); result.Approval != nil {
			pending = result.Approval
		}
	}
}

// A review of a tool does not execute the tool, so the review needs no approval.
func TestReviewOfGatedTool(t *testing.T) {
	g := newGated(t, mem.New())
	for name, review := range g.Review(t.Context()) {
		if name != "typo" {
			t.Errorf("Review of %s = %+v; want no findings", name, review)
		}
	}
}
