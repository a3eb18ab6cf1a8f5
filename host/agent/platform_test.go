package agent_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

const bank = `AGENT: Bank
GOAL: "Transfer money"
MEMORY:
  session:
    - amount
      TYPE: number
      INITIAL: 5
    - pin
      SENSITIVE: true
  persistent:
    - user.limit
      DEFAULT: 100
    - user.language
    - user.pins
      SENSITIVE: true
  remember:
    - WHEN: language IS SET
      STORE: language -> user.language
      TTL: "90d"
    - WHEN: pin IS SET
      STORE: pin -> user.pins
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.language, user.limit]
    - ON: session:start
      ACTION: prompt_llm
      INSTRUCTION: "Greet the user."
    - ON: tool:*:after
      ACTION: load_memory
      DOMAIN: "travel"
CONSTRAINTS:
  always:
    - WARN amount < 50
      ON_FAIL: "A large amount: {{amount}}."
    - REQUIRE amount <= user.limit BEFORE calling transfer
      ON_FAIL:
        RESPOND: "At most {{user.limit}}, not {{amount}} with {{pin}}."
        COLLECT: [amount]
        THEN: retry
    - REQUIRE checked == true BEFORE returning results
      ON_FAIL: BLOCK
`

func bankSet(t *testing.T) *agent.Set {
	return compile(t, []agent.Tool{{Name: "transfer"}, {Name: "rates"}}, bank)
}

// TestFireInjectsIntoTheSession checks that Fire stores the loaded facts in the session, so the
// next Check can read them.
func TestFireInjectsIntoTheSession(t *testing.T) {
	e, set, ctx := agenttest.New(), bankSet(t), context.Background()
	e.SetStored("user.language", "de", 0, "")
	e.SetStored("user.travel.seat", "aisle", 0, "")
	got, err := set.Fire(ctx, e, agent.Rules{Event: "session:start"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"user.language": "de", "user.limit": 100.0}; !reflect.DeepEqual(got.Injected, want) {
		t.Errorf("injected = %v; want %v", got.Injected, want)
	}
	if want := []string{"Greet the user."}; !slices.Equal(got.Instructions, want) {
		t.Errorf("instructions = %q", got.Instructions)
	}
	if got, err = set.Fire(ctx, e, agent.Rules{Event: "tool:rates:after"}); err != nil || got.Injected["user.travel.seat"] != "aisle" {
		t.Errorf("injected = %v, %v; want the domain travel", got, err)
	}
	session, _ := e.Session(ctx)
	if len(session.Injected) != 3 {
		t.Errorf("the session contains the facts %v; want three facts", session.Injected)
	}
	before := e.Dump()
	if _, err := set.Fire(ctx, e, agent.Rules{Event: "session:start", Variables: map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(e.Dump(), before) {
		t.Error("Fire with variables of the caller changes the session")
	}
}

// TestRulesReadTheMessage checks that rules can read the message of the caller under the name
// "input". The rules read the variables that the caller passes, or the variables of the session if
// the caller passes none.
func TestRulesReadTheMessage(t *testing.T) {
	set := compile(t, nil, `AGENT: A
MEMORY:
  session:
    - who
      INITIAL: "Bob"
  remember:
    - WHEN: input IS SET
      STORE: input + " " + who -> user.last
CONSTRAINTS:
  all:
    - RESTRICT input contains "refund"
      ON_FAIL: "No refunds, {{who}}."
`)
	e, ctx := agenttest.New(), context.Background()
	for _, tt := range []struct {
		variables map[string]any
		who       string
	}{{nil, "Bob"}, {map[string]any{"who": "Ann", "input": "old"}, "Ann"}} {
		r := agent.Rules{Checkpoint: agent.CheckpointStep, Variables: tt.variables}
		if got, err := set.Check(ctx, e, r); err != nil || got.Blocked {
			t.Errorf("without a message: %+v, %v", got, err)
		}
		r.Message, r.HasMessage = "a refund", true
		if got, err := set.Check(ctx, e, r); err != nil || !got.Blocked || got.Failures[0].Message != "No refunds, "+tt.who+"." {
			t.Errorf("with a message: %+v, %v", got, err)
		}
		if got, err := set.Store(ctx, e, r); err != nil || got.Stored["user.last"] != "a refund "+tt.who {
			t.Errorf("stored = %+v, %v", got, err)
		}
	}
	long := agent.Rules{Checkpoint: agent.CheckpointStep, Message: strings.Repeat("x", agent.MaxMessageBytes+1), HasMessage: true}
	if _, err := set.Check(ctx, e, long); !errors.Is(err, abi.TooLarge) {
		t.Errorf("a long message = %v; want too_large", err)
	}
}

func TestFireRefusesUnknownEvents(t *testing.T) {
	_, err := bankSet(t).Fire(context.Background(), agenttest.New(), agent.Rules{Event: "tool:rates:before"})
	if !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("error = %v; want invalid_argument", err)
	}
}

func TestCheckReportsWhatFails(t *testing.T) {
	e, set, ctx := agenttest.New(), bankSet(t), context.Background()
	check := func(r agent.Rules) *report.RuleOutcome {
		t.Helper()
		before := e.Dump()
		got, err := set.Check(ctx, e, r)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.Dump(), before) {
			t.Error("Check stores something")
		}
		return got
	}
	got := check(agent.Rules{Checkpoint: agent.CheckpointCalling, Tool: "transfer"})
	if got.Blocked || len(got.Failures) != 0 {
		t.Errorf("the initial amount fails: %+v", got)
	}
	got = check(agent.Rules{Checkpoint: agent.CheckpointCalling, Tool: "transfer", Variables: map[string]any{"amount": 500.0, "pin": "123456"}})
	want := []report.Failure{{
		Position: "a.abl:36", Rule: "REQUIRE", Severity: "error", Message: "At most 100, not 500 with [REDACTED].", Collect: []string{"amount"}, Then: "retry",
	}}
	if !got.Blocked || !reflect.DeepEqual(got.Failures, want) {
		t.Errorf("failures = %+v; want %+v", got.Failures, want)
	}
	got = check(agent.Rules{Checkpoint: agent.CheckpointStep, Variables: map[string]any{"amount": 60.0}})
	if got.Blocked || len(got.Failures) != 1 || got.Failures[0].Severity != "warning" || !slices.Equal(got.Warnings, []string{"a.abl:34:7: A large amount: 60."}) {
		t.Errorf("a warning is reported as %+v", got)
	}
	if got = check(agent.Rules{Checkpoint: agent.CheckpointReturning}); !got.Blocked || got.Failures[0].Message != "" {
		t.Errorf("an unset operand is reported as %+v; want a block without a message", got)
	}
	if got = check(agent.Rules{Checkpoint: agent.CheckpointReturning, Variables: map[string]any{"checked": true}}); got.Blocked {
		t.Errorf("a constraint that is satisfied is reported as %+v", got)
	}
	got = check(agent.Rules{Checkpoint: agent.CheckpointCalling, Tool: "transfer", Variables: map[string]any{"amount": 500}})
	if !got.Blocked || !strings.Contains(got.Failures[0].Message, "not 500") {
		t.Errorf("an int is reported as %+v", got)
	}
	for _, bad := range []agent.Rules{{}, {Checkpoint: agent.CheckpointStep, Variables: map[string]any{"f": func() {}}},
		{Checkpoint: agent.CheckpointStep, Variables: map[string]any{"s": strings.Repeat("x", agent.MaxValueBytes)}}, {Checkpoint: "before"}, {Checkpoint: agent.CheckpointCalling}, {Checkpoint: agent.CheckpointCalling, Tool: "transfre"}, {Checkpoint: agent.CheckpointStep, Tool: "transfer"}} {
		if _, err := set.Check(ctx, e, bad); err == nil {
			t.Errorf("Check(%+v) succeeds", bad)
		}
	}
}

// TestStoreDoesNotActivate checks that Store does not activate the agent. A later turn of the agent
// in the same session must activate the agent.
func TestStoreDoesNotActivate(t *testing.T) {
	e, set, ctx := agenttest.New(), bankSet(t), context.Background()
	variables := map[string]any{"language": "fr", "pin": "123456"}
	got, err := set.Store(ctx, e, agent.Rules{Variables: variables})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"user.language": "fr", "user.pins": "[REDACTED]"}; !reflect.DeepEqual(got.Stored, want) {
		t.Errorf("stored = %v; want %v", got.Stored, want)
	}
	if pin, _ := e.Stored("user.pins"); pin != "123456" {
		t.Errorf("user.pins = %v; want the value itself", pin)
	}
	e.SetStored("user.language", "it", 0, "")
	if got, err = set.Store(ctx, e, agent.Rules{Variables: variables}); err != nil || len(got.Stored) != 0 {
		t.Errorf("equal values are stored again: %v, %v", got, err)
	}
	o := say(t, e, set, "hello")
	if o.Injected["user.language"] != "it" || o.Variables["amount"] != 5.0 {
		t.Errorf("the first turn is not an activation: %+v", o)
	}
	if strings.Contains(strings.Join(o.Warnings, ""), "123456") {
		t.Errorf("warnings = %q", o.Warnings)
	}
}

// TestTurnRefusesMalformedEvents performs turns with a malformed event, and turns with both an
// event and a message. Each turn must fail with a fault of the caller.
func TestTurnRefusesMalformedEvents(t *testing.T) {
	for _, r := range []agent.Request{
		{Agent: "Bank", Event: "session:begin"},
		{Agent: "Bank", Event: "session:start", Message: "hello", HasMessage: true},
	} {
		e := agenttest.New()
		if _, err := bankSet(t).Turn(context.Background(), e, r); !errors.Is(err, abi.InvalidArgument) {
			t.Errorf("the error of %+v = %v; want invalid_argument", r, err)
		}
	}
}
