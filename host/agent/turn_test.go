package agent_test

import (
	"context"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

// compile compiles agents from files, and returns the agents.
func compile(t testing.TB, tools []agent.Tool, files ...string) *agent.Set {
	t.Helper()
	set, problems := agent.Compile(documents(t, files...), tools)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return set
}

// say performs a turn that must succeed.
func say(t testing.TB, e *agenttest.Env, set *agent.Set, message string) *report.Outcome {
	t.Helper()
	o, err := e.Say(context.Background(), set, message)
	if err != nil {
		t.Fatalf("say %q: %v", message, err)
	}
	return o
}

func TestRespondAndSet(t *testing.T) {
	set := compile(t, nil, `AGENT: Hotel
MEMORY:
  session:
    - nights
      TYPE: number
      INITIAL: 3
  persistent:
    - user.name
FLOW:
  total:
    REASONING: false
    SET:
      - price = nights * 100
      - booking.total = price
    RESPOND: "{{COALESCE(user.name, \"Guest\")}}: {{booking.total}}"
    THEN: end
  end:
    REASONING: false
    SET: user.name = input
    RESPOND: "Bye {{user.name}}."
    THEN: COMPLETE
`)
	e := agenttest.New()
	o := say(t, e, set, "Ann")
	if want := []string{"Guest: 300", "Bye Ann."}; !slices.Equal(o.Messages, want) {
		t.Errorf("messages = %q; want %q", o.Messages, want)
	}
	if !o.Done || o.Step != nil || o.Agent != "Hotel" {
		t.Errorf("done = %v, step = %v, agent = %s", o.Done, o.Step, o.Agent)
	}
	if name, _ := e.Stored("user.name"); name != "Ann" {
		t.Errorf("user.name = %v", name)
	}
	e.SessionID = "s2"
	if o := say(t, e, set, "Bob"); o.Messages[0] != "Ann: 300" {
		t.Errorf("messages = %q", o.Messages)
	}
}

// TestTriggersOfUnsetVariables checks when a trigger reports warnings about its condition. A
// trigger must report them only if it stores a value.
func TestTriggersOfUnsetVariables(t *testing.T) {
	for condition, want := range map[string]int{"amount > 0": 0, "amount < 1": 1} {
		set := compile(t, nil, `AGENT: Bank
MEMORY:
  session:
    - amount
  persistent:
    - user.state
  remember:
    - WHEN: `+condition+`
      STORE: "seen" -> user.state
FLOW:
  greet:
    REASONING: false
    RESPOND: Hello.
    THEN: COMPLETE
`)
		if o := say(t, agenttest.New(), set, "hi"); len(o.Warnings) != want {
			t.Errorf("warnings of %s = %q, want %d", condition, o.Warnings, want)
		}
	}
}
