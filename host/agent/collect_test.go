package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// If a constraint collects a field and GATHER declares a type for this field, the field has this
// type.
func TestCollectedFieldsHaveTypes(t *testing.T) {
	set := compile(t, nil, `AGENT: A
CONSTRAINTS:
  all:
    - REQUIRE nights <= 30
      WHEN: nights IS SET
      ON_FAIL:
        RESPOND: "At most 30 nights."
        COLLECT: [nights]
FLOW:
  ask:
    REASONING: false
    GATHER:
      - nights
        TYPE: number
  price:
    REASONING: false
    RESPOND: "{{nights * 10}}"
    ON_INPUT:
      - ELSE:
        THEN: COMPLETE
`)
	e := agenttest.New()
	say(t, e, set, "hello")
	if o := say(t, e, set, "40"); !slices.Equal(o.Messages, []string{"At most 30 nights."}) || !o.Blocked {
		t.Fatalf("messages = %q", o.Messages)
	}
	if o := say(t, e, set, "many"); !slices.Equal(o.Messages, []string{"Please enter a number, such as 3."}) {
		t.Errorf("messages = %q; want a question for a number", o.Messages)
	}
	if o := say(t, e, set, " 3 "); o.Variables["nights"] != 3.0 || !slices.Equal(o.Messages, []string{"30"}) {
		t.Errorf("nights = %v, messages = %q", o.Variables["nights"], o.Messages)
	}
}

// After COLLECT, GOTO leads to a step that computes a variable again. The constraint still applies
// to the call in this step.
func TestCollectedFieldsAreComputedAgain(t *testing.T) {
	set := compile(t, []agent.Tool{{Name: "book"}}, `AGENT: A
CONSTRAINTS:
  all:
    - REQUIRE total <= 300 BEFORE calling book
      ON_FAIL:
        RESPOND: "At most 300, not {{total}}. How many nights?"
        COLLECT: [nights]
        GOTO: price
FLOW:
  ask:
    REASONING: false
    GATHER:
      - nights
        TYPE: number
  price:
    REASONING: false
    SET: total = nights * 100
  order:
    REASONING: false
    CALL: book(total)
    RESPOND: "Booked for {{total}}."
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.Tools["book"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
	say(t, e, set, "hello")
	for _, turn := range []struct{ message, want string }{
		{"9", "At most 300, not 900. How many nights?"}, {"4", "At most 300, not 400. How many nights?"}, {"2", "Booked for 200."},
	} {
		if o := say(t, e, set, turn.message); !slices.Equal(o.Messages, []string{turn.want}) {
			t.Errorf("after %s: messages = %q; want %q", turn.message, o.Messages, turn.want)
		}
	}
	if len(e.Calls) != 1 || e.Calls[0].Input["total"] != 200.0 {
		t.Errorf("calls = %v; want one with the total 200", e.Calls)
	}
}

// While GATHER asks for a text, a phrase of one word is not recognized in a long answer.
func TestIntentsAndAnswers(t *testing.T) {
	const flow = `AGENT: A
FLOW:
  ask:
    REASONING: false
    GATHER:
      - note
        TYPE: %
    SUB_INTENTS:
      - INTENT: "stop"
        RESPOND: "Stopped."
        THEN: COMPLETE
      - INTENT: "opening hours"
        RESPOND: "From 9 to 5."
    RESPOND: "Note: {{note}}"
    THEN: COMPLETE
`
	for _, tt := range []struct{ kind, message, want string }{
		{"string", "stop", "Stopped."},
		{"string", "Please stop now!", "Stopped."},
		{"string", "We stop in Bern on Friday", "Note: We stop in Bern on Friday"},
		{"string", "Can you please just stop?", "Stopped."},
		{"string", "Show me the opening hours of the shop", "From 9 to 5."},
		{"array", "a bus stop near by, a tree", `Note: ["a bus stop near by","a tree"]`},
		{"number", "I really want to stop", "Stopped."},
	} {
		set := compile(t, nil, strings.Replace(flow, "%", tt.kind, 1))
		e := agenttest.New()
		say(t, e, set, "hello")
		if o := say(t, e, set, tt.message); !slices.Equal(o.Messages, []string{tt.want}) {
			t.Errorf("%s: messages after %q = %q; want %q", tt.kind, tt.message, o.Messages, tt.want)
		}
	}
}

// The indexes in the targets of assignments can be computed.
func TestComputedIndexes(t *testing.T) {
	set := compile(t, nil, `AGENT: A
MEMORY:
  session:
    - list
      INITIAL: [{p: 1}, {p: 2}]
  persistent:
    - user.prefs
    - user.prefs.color
FLOW:
  set:
    REASONING: false
    SET:
      - i = 1
      - list[i - 1].p = 5
      - list[list.length].p = 7
      - list[i + 4] = "far"
      - list[-1] = "before"
      - list[missing] = "nowhere"
      - counts[input] = 1
      - counts["a.b"].c[i] = 2
      - fresh[i - 1] = "x"
      - user.prefs[input] = "red"
      - last[0] = list[list.length - 1].p
    ON_INPUT:
      - ELSE:
        THEN: COMPLETE
`)
	e := agenttest.New()
	o := say(t, e, set, "color")
	for name, want := range map[string]string{
		"list": `[{"p":5},{"p":2},{"p":7}]`, "counts": `{"a.b":{"c":{"1":2}},"color":1}`, "fresh": `["x"]`, "last": "[7]",
	} {
		if got := string(jsonOf(t, o.Variables[name])); got != want {
			t.Errorf("%s = %s; want %s", name, got, want)
		}
	}
	whole, _ := e.Stored("user.prefs")
	if part, ok := e.Stored("user.prefs.color"); ok || string(jsonOf(t, whole)) != `{"color":"red"}` {
		t.Errorf("user.prefs = %v, user.prefs.color = %v; want a computed index to set no other fact", whole, part)
	}
	for i, want := range []string{"the array list has 3 items and no item 5", "the index is neither a whole number nor a text", "the index is neither a whole number nor a text"} {
		if i >= len(o.Warnings) || !strings.Contains(o.Warnings[i], want) {
			t.Errorf("warnings = %q; want %q at %d", o.Warnings, want, i)
		}
	}
}

// If a call in a file can never succeed, a problem of the file is reported.
func TestInputsOfCalls(t *testing.T) {
	tools := []agent.Tool{
		{Name: "search", Parameters: []byte(`{"type":"object","properties":{"city":{},"nights":{"default":1}},"required":["city","nights"],"additionalProperties":false}`)},
		{Name: "open", Parameters: []byte(`{"type":"object","required":["id"]}`)},
		{Name: "free"},
	}
	for call, want := range map[string]string{
		"search(city)":                     "",
		"search(city, nights: 3)":          "",
		"search()":                         "a.abl:5:11: the call to search omits the required input city\n  hint: write search(city: expression)",
		"search(city, price: 3)":           "a.abl:5:24: the tool search has no input price\n  hint: remove it",
		"search(ctiy: \"Rome\")":           "a.abl:5:11: the call to search omits the required input city\n  hint: rename the input ctiy\na.abl:5:18: the tool search has no input ctiy\n  hint: did you mean city?",
		"open(id: 1, other: 2)":            "",
		"open":                             "a.abl:5:11: the call to open omits the required input id\n  hint: write open(id: expression)",
		"free(anything: 1)":                "",
		"open\n      WITH:\n        id: 7": "",
	} {
		docs := documents(t, "AGENT: A\nFLOW:\n  one:\n    REASONING: false\n    CALL: "+call+"\n    THEN: COMPLETE\n")
		_, problems := agent.Compile(docs, tools)
		got := ""
		if err := problems.Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", call, got, want)
		}
	}
}

// documents parses files and returns their documents. The files must not have errors.
func documents(t testing.TB, files ...string) []*abl.Document {
	t.Helper()
	var docs []*abl.Document
	for _, source := range files {
		d, problems := abl.Parse("a.abl", []byte(source))
		if err := problems.Err(); err != nil {
			t.Fatalf("%s\n%v", source, err)
		}
		docs = append(docs, d)
	}
	return docs
}

func jsonOf(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
