package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/model"
)

func TestWhenSkipsSteps(t *testing.T) {
	set := compile(t, nil, `AGENT: T
FLOW:
  one:
    REASONING: false
    WHEN: input == "long"
    RESPOND: "one"
    THEN: three
  two:
    REASONING: false
    RESPOND: "two"
  three:
    REASONING: false
    WHEN: unknown
    RESPOND: "three"
`)
	e := agenttest.New()
	converse(t, e, set, turn{say: "long", want: []string{"one"}, done: true}, turn{say: "short", want: []string{}, done: true})
}

// TestAttemptsBeginAgain checks that the number of attempts of a step starts at zero when a new
// flow begins.
func TestAttemptsBeginAgain(t *testing.T) {
	set := compile(t, nil, `AGENT: T
FLOW:
  one:
    REASONING: false
    MAX_ATTEMPTS: 1
    RESPOND: "one"
    THEN: COMPLETE
`)
	e := agenttest.New()
	for range 3 {
		converse(t, e, set, turn{say: "x", want: []string{"one"}, done: true})
	}
}

// TestFactsAfterCall checks that a fact is read again after a tool has changed the fact.
func TestFactsAfterCall(t *testing.T) {
	set := compile(t, []agent.Tool{{Name: "rename"}}, `AGENT: T
MEMORY:
  persistent:
    - user.name
FLOW:
  one:
    REASONING: false
    SET: before = user.name
    CALL: rename()
    RESPOND: "{{before}} {{user.name}}"
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.SetStored("user.name", "Ann", 0, "")
	e.Tools["rename"] = func(_ context.Context, e *agenttest.Env, _ map[string]any) (any, error) {
		e.SetStored("user.name", "Bea", 0, "")
		return nil, nil
	}
	converse(t, e, set, turn{say: "x", want: []string{"Ann Bea"}, done: true})
}

// TestCollectMissing checks that COLLECT requests only the fields that have no value. If all fields
// of COLLECT have a value, COLLECT must request all of them.
func TestCollectMissing(t *testing.T) {
	set := compile(t, nil, `AGENT: T
CONSTRAINTS:
  always:
    - REQUIRE from < to
      ON_FAIL:
        COLLECT: [from, to]
        THEN: retry
ON_START:
  SET: from = 5
FLOW:
  one:
    REASONING: false
    RESPOND: "{{from}} to {{to}}"
    THEN: COMPLETE
`)
	converse(t, agenttest.New(), set,
		turn{say: "-", want: []string{"Please enter the to."}, step: "one", field: "to", blocked: true},
		turn{say: "3", want: []string{"Please enter the from."}, step: "one", field: "from", blocked: true},
		turn{say: "1", want: []string{"Please enter the to."}, step: "one", field: "to"},
		turn{say: "2", want: []string{"1 to 2"}, done: true})
}

// TestDelegation checks that an agent without a flow hands over to the first agent in HANDOFF whose
// condition in WHEN is true.
func TestDelegation(t *testing.T) {
	files := []string{`AGENT: Desk
HANDOFF:
  - TO: Billing
    WHEN: input contains "invoice"
  - TO: Travel
    WHEN: input contains "trip"
`}
	for _, name := range []string{"Billing", "Travel"} {
		files = append(files, "AGENT: "+name+"\nFLOW:\n  one:\n    REASONING: false\n    RESPOND: \""+name+"\"\n    THEN: HANDOFF Desk\n")
	}
	set := compile(t, nil, files...)
	e := agenttest.New()
	o, err := e.Turn(context.Background(), set, agent.Request{Agent: "Desk", Message: "hello", HasMessage: true})
	if err != nil || o.Agent != "Desk" || len(o.Messages) != 0 || o.Handoff != nil {
		t.Fatalf("outcome = %+v, %v", o, err)
	}
	if _, err := e.Say(context.Background(), set, "my trip"); err == nil || !strings.Contains(err.Error(), "Desk -> Travel -> Desk") {
		t.Errorf("error = %v; want an error about the circle of handoffs", err)
	}
}

// TestStartHandsOver checks that ON_START can hand over to another agent, even in a turn with an
// event.
func TestStartHandsOver(t *testing.T) {
	set := compile(t, nil, "AGENT: A\nON_START:\n  RESPOND: \"A\"\n  THEN: HANDOFF B\n",
		"AGENT: B\nON_START:\n  THEN: second\nFLOW:\n  first:\n    REASONING: false\n    RESPOND: \"first\"\n  second:\n    REASONING: false\n    RESPOND: \"second\"\n")
	for _, event := range []string{"", "search:before"} {
		e := agenttest.New()
		o, err := e.Turn(context.Background(), set, agent.Request{Agent: "A", Event: event})
		want := []string{"A", "second"}
		if event != "" {
			want = want[:1]
		}
		if err != nil || o.Agent != "B" || !slices.Equal(o.Messages, want) || *o.Handoff != "B" {
			t.Errorf("with the event %q: messages = %q, agent = %s, %v", event, o.Messages, o.Agent, err)
		}
	}
}

// TestReturningGoesTo checks the effect of GOTO in a constraint on results. The turn must continue
// with the step of GOTO, even if the flow has already ended.
func TestReturningGoesTo(t *testing.T) {
	set := compile(t, nil, `AGENT: T
CONSTRAINTS:
  always:
    - REQUIRE valid BEFORE returning results
      ON_FAIL:
        GOTO: validate
FLOW:
  result:
    REASONING: false
    RESPOND: "result"
    THEN: COMPLETE
  validate:
    REASONING: false
    SET: valid = true
    RESPOND: "validated"
    THEN: COMPLETE
`)
	converse(t, agenttest.New(), set, turn{say: "x", want: []string{"validated"}, done: true, blocked: true})
}

func TestModelCannotSetSensitiveVariables(t *testing.T) {
	e, set := wire(t)
	e.Model = func(_ string, r model.ChatRequest) (model.ChatAnswer, error) {
		if len(e.Prompts) == 1 {
			return calls("set_variables", `{"pin": "1"}`), nil
		}
		if last := r.Messages[len(r.Messages)-1]; !strings.Contains(last.Content, "the variable does not exist") {
			t.Errorf("result = %q", last.Content)
		}
		return model.ChatAnswer{Text: "No."}, nil
	}
	say(t, e, set, "change my pin")
	if state, _ := e.State(context.Background(), "Wire"); state.Variables["pin"] != "4711-secret" {
		t.Errorf("pin = %v", state.Variables["pin"])
	}
}

// TestFlowCanChange checks that a session can continue after the steps of its agent have changed.
func TestFlowCanChange(t *testing.T) {
	before := compile(t, nil, tripFlow)
	e := agenttest.New()
	say(t, e, before, "hi")
	state, _ := e.State(context.Background(), "Trip")
	state.Returns = []agent.Return{{Step: "gone", Waiting: agent.WaitingInput}}
	if err := e.SetState(context.Background(), "Trip", state); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"no step":   "AGENT: Trip\nFLOW:\n  other:\n    REASONING: false\n    RESPOND: \"other\"\n",
		"no gather": "AGENT: Trip\nFLOW:\n  collect:\n    REASONING: false\n    RESPOND: \"other\"\n    THEN: COMPLETE\n",
		"no flow":   "AGENT: Trip\n",
	} {
		set := compile(t, nil, source)
		_ = e.Transaction(context.Background(), func(ctx context.Context) error { // undoes the turn
			o, err := set.Turn(ctx, e, agent.Request{Message: "Rome", HasMessage: true})
			if err == nil && name != "no flow" && !slices.Equal(o.Messages, []string{"other"}) {
				t.Errorf("%s: messages = %q", name, o.Messages)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return context.Canceled
		})
	}
}

// TestCollectInIntent interrupts the actions of an intent by a constraint that collects a field.
// After this field, the actions must continue. Then the step must wait for its own field again.
func TestCollectInIntent(t *testing.T) {
	set := compile(t, []agent.Tool{{Name: "find"}}, `AGENT: T
CONSTRAINTS:
  always:
    - REQUIRE year BEFORE calling find
      ON_FAIL:
        COLLECT: [year, month]
        THEN: retry
FLOW:
  one:
    REASONING: false
    GATHER:
      - name: required
    SUB_INTENTS:
      - INTENT: "my orders"
        RESPOND: "Looking."
        CALL: find(year)
        ON_SUCCESS:
          RESPOND: "None in {{year}}."
        RESUME: true
    RESPOND: "Bye {{name}}."
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.Tools["find"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
	converse(t, e, set,
		turn{say: "-", want: []string{"Please enter the name."}, step: "one", field: "name"},
		turn{say: "show my orders", want: []string{"Looking.", "Please enter the year."}, step: "one", field: "year", blocked: true},
		turn{say: "2026", want: []string{"Please enter the month."}, step: "one", field: "month"},
		turn{say: "5", want: []string{"None in 2026.", "Please enter the name."}, step: "one", field: "name"},
		turn{say: "Ann", want: []string{"Bye Ann."}, done: true})
	state, _ := e.State(context.Background(), "T")
	if len(state.Returns) != 0 || len(state.Path) != 0 {
		t.Errorf("state = %+v", state)
	}
}

// TestConstraintStopsHook checks what happens if a constraint stops a hook. The changes of the hook
// must be undone, and the turn must continue.
func TestConstraintStopsHook(t *testing.T) {
	const source = `AGENT: T
MEMORY:
  persistent:
    - user.n
CONSTRAINTS:
  always:
    - REQUIRE allowed BEFORE calling audit
      ON_FAIL: "Not allowed."
HOOKS:
  after_turn:
    SET:
      - user.n = 1
      - m = 1
    CALL: audit()
FLOW:
  one:
    REASONING: false
    RESPOND: "Hello."
    THEN: COMPLETE
`
	tools := []agent.Tool{{Name: "audit"}}
	e := agenttest.New()
	o := converse(t, e, compile(t, tools, source), turn{say: "x", want: []string{"Hello."}, done: true})
	if _, ok := e.Stored("user.n"); ok || o.Variables["m"] != nil || len(o.Warnings) != 1 || !strings.HasSuffix(o.Warnings[0], ":10:3: the hook after_turn failed: a constraint stopped the hook") {
		t.Errorf("variables = %v, warnings = %q", o.Variables, o.Warnings)
	}
	set := compile(t, tools, strings.Replace(source, "    CALL: audit()\n", "    CALL: audit()\n    critical: true\n", 1))
	if _, err := e.Say(context.Background(), set, "x"); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("error = %v; want access_denied", err)
	}
}
