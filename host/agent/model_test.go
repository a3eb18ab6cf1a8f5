package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/model"
)

// script returns a model that answers the requests in the order of the argument "answers". Each
// request must be a valid request.
func script(t *testing.T, answers ...model.ChatAnswer) func(string, model.ChatRequest) (model.ChatAnswer, error) {
	return func(name string, r model.ChatRequest) (model.ChatAnswer, error) {
		if _, err := r.Canonical(); err != nil {
			t.Errorf("the request is invalid: %v", err)
		}
		if name != "small" || len(answers) == 0 {
			t.Fatalf("unexpected request to %s: %v", name, r)
		}
		answer := answers[0]
		answers = answers[1:]
		return r.Answer(cmpText(answer), answer.ToolCalls)
	}
}

func cmpText(a model.ChatAnswer) string {
	if a.Object != nil {
		return string(a.Object)
	}
	return a.Text
}

func calls(name, arguments string) model.ChatAnswer {
	return model.ChatAnswer{ToolCalls: []model.ToolCall{{ID: "c1", Name: name, Arguments: json.RawMessage(arguments)}}}
}

const wireAgent = `AGENT: Wire
GOAL: "Send money"
MEMORY:
  session:
    - amount
      TYPE: number
    - confirmed
      TYPE: boolean
    - pin
      SENSITIVE: true
      INITIAL: "4711-secret"
  recall:
    - ON: session:start
      INSTRUCTION: "Be brief."
TOOLS: [pay, admin]
CONSTRAINTS:
  always:
    - REQUIRE amount <= 100 BEFORE calling pay
      ON_FAIL: "At most 100, not {{amount}}."
FLOW:
  talk:
    REASONING: true
    MODEL: small
    GOAL: "Find out the amount"
    AVAILABLE_TOOLS: [pay]
    EXIT_WHEN: confirmed
    MAX_TURNS: 5
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Bye."
    THEN: COMPLETE
`

func wire(t *testing.T) (*agenttest.Env, *agent.Set) {
	t.Helper()
	schema := json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"}}}`)
	set := compile(t, []agent.Tool{{Name: "pay", Description: "Pays.", Parameters: schema}, {Name: "admin"}}, wireAgent)
	e := agenttest.New()
	e.Tools["pay"] = func(_ context.Context, _ *agenttest.Env, in map[string]any) (any, error) {
		if in["amount"] == 13.0 {
			return nil, errors.New("declined")
		}
		return map[string]any{"id": "p1"}, nil
	}
	return e, set
}

func TestReasoning(t *testing.T) {
	e, set := wire(t)
	e.Model = script(t,
		model.ChatAnswer{Text: "How much?"},
		calls("set_variables", `{"amount": 500}`), calls("pay", `{"amount": 500}`),
		calls("set_variables", `{"amount": 13}`), calls("pay", `{"amount": 13}`), model.ChatAnswer{Text: "Declined. Another amount?"},
		calls("set_variables", `{"amount": 50, "confirmed": true}`), calls("pay", `{"amount": 50}`), model.ChatAnswer{Text: "Paid."})
	converse(t, e, set,
		turn{say: "hi", want: []string{"How much?"}, step: "talk"},
		turn{say: "500", want: []string{"At most 100, not 500."}, step: "talk", blocked: true},
		turn{say: "13", want: []string{"Declined. Another amount?"}, step: "talk"},
		turn{say: "-", want: []string{"Declined. Another amount?"}, step: "talk"},
		turn{say: "50", want: []string{"Paid.", "Bye."}, done: true})
	if len(e.Calls) != 2 {
		t.Errorf("calls = %v; want 13 and 50", e.Calls)
	}
	first, last := e.Prompts[0], e.Prompts[len(e.Prompts)-1]
	system := first.Messages[0].Content
	for _, part := range []string{"You are the agent Wire.", "Goal: Send money", "Task: Find out the amount", "Instruction: Be brief."} {
		if !strings.Contains(system, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, system)
		}
	}
	if strings.Contains(system, "4711") || strings.Contains(string(first.Tools[1].Parameters), "pin") {
		t.Errorf("the model receives a sensitive value: %s", system)
	}
	if names := []string{first.Tools[0].Name, first.Tools[1].Name}; !slices.Equal(names, []string{"pay", "set_variables"}) {
		t.Errorf("tools = %v", names)
	}
	var conversation []string
	for _, m := range last.Messages[1:] {
		conversation = append(conversation, string(m.Role)+" "+m.Content)
	}
	want := []string{"user hi", "assistant How much?", "user 500", "assistant At most 100, not 500.", "user 13", "assistant Declined. Another amount?",
		"assistant Declined. Another amount?", "user 50", "assistant ", `tool {"ok": true}`, "assistant ", `tool {"id":"p1"}`}
	if !slices.Equal(conversation, want) {
		t.Errorf("conversation = %q; want %q", conversation, want)
	}
}

func TestReasoningOffersOnlyItsTools(t *testing.T) {
	e, set := wire(t)
	e.Model = func(string, model.ChatRequest) (model.ChatAnswer, error) { return calls("admin", "{}"), nil }
	_, err := e.Say(context.Background(), set, "go")
	if f := abi.FaultOf(err); f == nil || f.Code != abi.CallLimit || f.Line != 21 || len(e.Calls) != 0 {
		t.Errorf("error = %v, calls = %v", err, e.Calls)
	}
}

func TestReasoningNeedsModel(t *testing.T) {
	d, _ := abl.Parse("a.abl", []byte(strings.Replace(wireAgent, "    MODEL: small\n", "", 1)))
	_, problems := agent.Compile([]*abl.Document{d}, []agent.Tool{{Name: "pay"}, {Name: "admin"}})
	if err := problems.Err(); err == nil || !strings.Contains(err.Error(), "a.abl:21:3: the step talk has REASONING: true but no MODEL") {
		t.Errorf("problems = %v", err)
	}
}

func TestReasoningEndsAfterMaxTurns(t *testing.T) {
	e, set := wire(t)
	e.Model = func(string, model.ChatRequest) (model.ChatAnswer, error) { return model.ChatAnswer{Text: "Hm."}, nil }
	for i := range 4 {
		if o := say(t, e, set, "x"); deref(o.Step) != "talk" {
			t.Fatalf("turn %d ends the step", i+1)
		}
	}
	if o := say(t, e, set, "x"); !o.Done || !slices.Equal(o.Messages, []string{"Hm.", "Bye."}) {
		t.Errorf("messages = %q, done = %v", o.Messages, o.Done)
	}
}

func TestPreview(t *testing.T) {
	e, set := wire(t)
	before := e.Dump()
	var prompt *agent.Prompt
	err := e.Transaction(context.Background(), func(ctx context.Context) (err error) {
		if prompt, err = set.Preview(ctx, e, agent.Request{Message: "hi", HasMessage: true}); err != nil {
			return err
		}
		return errors.New("undo")
	})
	if prompt == nil || prompt.Model != "small" || prompt.Request.Messages[1].Content != "hi" || len(e.Prompts) != 0 {
		t.Errorf("prompt = %v, %v", prompt, err)
	}
	if !maps.Equal(before, e.Dump()) {
		t.Error("the preview changed stored values")
	}
	none, err := compile(t, nil, "AGENT: A").Preview(context.Background(), e, agent.Request{})
	if none != nil || err != nil {
		t.Errorf("prompt = %v, %v", none, err)
	}
}

func TestGatherWithModel(t *testing.T) {
	set := compile(t, nil, `AGENT: Trip
FLOW:
  ask:
    REASONING: false
    GATHER:
      FIELDS:
        - destination: required
        - nights: required
          TYPE: number
        - class: optional
      MODEL: small
    SUB_INTENTS:
      MODEL: small
      - INTENT: "talk to a person"
        THEN: ESCALATE
    MAX_ATTEMPTS: 3
    THEN: done
  done:
    REASONING: false
    RESPOND: "{{destination}}, {{nights}}, {{class}}"
    THEN: COMPLETE
`)
	object := func(text string) model.ChatAnswer { return model.ChatAnswer{Object: json.RawMessage(text)} }
	e := agenttest.New()
	e.Model = script(t,
		object(`{"destination": "Rome", "nights": null, "class": "first"}`),
		object(`{"intent": null}`), object(`{"destination": null, "nights": null, "class": null}`),
		object(`{"intent": null}`), object(`{"destination": null, "nights": 3, "class": null}`))
	converse(t, e, set,
		turn{say: "I want to go to Rome, first class", want: []string{"Please enter the nights."}, step: "ask", field: "nights"},
		turn{say: "hm", want: []string{"Please enter the nights."}, step: "ask", field: "nights"},
		turn{say: "three", want: []string{"Rome, 3, first"}, done: true})
	e = agenttest.New()
	e.Model = script(t, object(`{"destination": null, "nights": null, "class": null}`), object(`{"intent": "talk to a person"}`))
	say(t, e, set, "hello")
	if o := say(t, e, set, "give me a human"); !o.Escalate {
		t.Errorf("messages = %q; want an escalation", o.Messages)
	}
}

// TestGatherWithModelCountsAttempts checks that an attempt of the step is counted even if the
// message contains no field.
func TestGatherWithModelCountsAttempts(t *testing.T) {
	set := compile(t, nil, `AGENT: Trip
FLOW:
  ask:
    REASONING: false
    GATHER:
      FIELDS:
        - nights: required
      MODEL: small
    MAX_ATTEMPTS: 2
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.Model = func(_ string, r model.ChatRequest) (model.ChatAnswer, error) {
		return r.Answer(`{"nights": null}`, nil)
	}
	converse(t, e, set,
		turn{say: "hello", want: []string{"Please enter the nights."}, step: "ask", field: "nights"},
		turn{say: "hm", want: []string{"Please enter the nights."}, step: "ask", field: "nights"})
	if o := say(t, e, set, "hm"); !o.Escalate {
		t.Errorf("messages = %q; want an escalation", o.Messages)
	}
}
