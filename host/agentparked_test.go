package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
)

// reasoningAgent is an agent that increments a fact and then sends a request to a model.
const reasoningAgent = `AGENT: Talker
GOAL: "Talk"
MEMORY:
  persistent:
    - user.count
FLOW:
  count:
    REASONING: false
    SET: user.count = COALESCE(user.count, 0) + 1
    CHECK: user.count < 10
    ON_FAIL: COMPLETE
    THEN: talk
  talk:
    REASONING: true
    MODEL: local
    GOAL: "Greet the user"
`

// openTalker opens a host with an agent that sends requests to the model "local".
func openTalker(t *testing.T, change ...func(*host.Options)) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: talk\n")}, "talk.abl": {Data: []byte(reasoningAgent)},
	}
	with := func(o *host.Options) { o.Models = modelSet(t, server, "") }
	return openApp(t, files, append([]func(*host.Options){with}, change...)...), server
}

// setCount sets the fact that the agent increments. The caller is an operator.
func setCount(t *testing.T, h *host.Host, value string) {
	t.Helper()
	call := abi.Call{Op: abi.SetFact, Args: []json.RawMessage{json.RawMessage(`"user.count"`), json.RawMessage(value)}}
	if _, _, err := h.Stores().Do(t.Context(), annInS1, memory.Operator(), call); err != nil {
		t.Fatal(err)
	}
}

// startTurn starts a turn in the background.
func startTurn(t *testing.T, h *host.Host, c host.Caller, message string) (wait func() *report.Turn) {
	t.Helper()
	done := make(chan *report.Turn, 1)
	go func() {
		result, err := h.Agents().Turn(context.Background(), host.Turn{Caller: c, Message: &message})
		if err != nil {
			t.Errorf("Turn(%s) = %v", message, err)
		}
		done <- result
	}()
	return func() *report.Turn { return <-done }
}

// If a fact changes while a turn that has read it waits for a model, the turn is executed again.
// The second execution gets the same answer of the model.
func TestTurnsPayOnce(t *testing.T) {
	h, server := openTalker(t)
	release := server.Hold()
	defer release()
	wait := startTurn(t, h, annInS1, "hello")
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	setCount(t, h, "5")
	release()
	result := wait()
	if result.Attempts != 2 || result.Usage.Model.Calls != 1 || len(result.Orphaned) != 0 || len(server.Requests()) != 1 {
		t.Errorf("the turn took %d attempts and %d calls, and the provider received %d requests; want 2, 1 and 1",
			result.Attempts, result.Usage.Model.Calls, len(server.Requests()))
	}
	if !slices.ContainsFunc(result.Messages, func(m string) bool { return strings.Contains(m, "hello") }) {
		t.Errorf("the messages are %q; want the answer of the model", result.Messages)
	}
	if got := content(t, h, annInS1, abi.GetFact, "user.count"); got != "6" {
		t.Errorf("user.count is %s; want 6", got)
	}
}

// A turn that waits for a model does not occupy the gate, so another user's turn can run.
func TestWaitingTurnsAreParked(t *testing.T) {
	gate, err := admission.New(admission.Limits{Running: 1, PerApp: 1})
	if err != nil {
		t.Fatal(err)
	}
	h, server := openTalker(t, func(o *host.Options) { o.Gate = gate })
	release := server.Hold()
	defer release()
	first := startTurn(t, h, annInS1, "hello")
	second := startTurn(t, h, host.Caller{User: "bob", Session: "s2"}, "hello")
	if err := server.Await(t.Context(), 2); err != nil { // both turns now wait for the model
		t.Fatal(err)
	}
	release()
	for _, wait := range []func() *report.Turn{first, second} {
		if result := wait(); !result.OK || result.Attempts != 1 {
			t.Errorf("a parked turn = %+v", result)
		}
	}
	// Each turn must have released its slot exactly once, so a later turn can run.
	if result := say(t, h, annInS1, "again"); !result.OK {
		t.Errorf("a later turn = %+v", result)
	}
}

// If an earlier attempt has called a model and the last attempt does not, the result nevertheless
// reports the call.
func TestOrphanedCallsOfTurns(t *testing.T) {
	h, server := openTalker(t)
	release := server.Hold()
	defer release()
	wait := startTurn(t, h, annInS1, "hello")
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	setCount(t, h, "10") // the second attempt does not call the model
	release()
	result := wait()
	if want := (report.OrphanedCall{Kind: "chat", Target: "local"}); len(result.Orphaned) != 1 || result.Orphaned[0] != want || result.Usage.Model.Calls != 1 || !result.Done {
		t.Errorf("the turn = %+v, usage %+v; want one call, which is orphaned", result.Orphaned, result.Usage.Model)
	}
}
