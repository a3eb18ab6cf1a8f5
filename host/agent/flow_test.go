package agent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

// turn describes a turn of a test conversation and its expected results.
type turn struct {
	say     string // the value "-" means a turn without a message
	want    []string
	step    string
	field   string
	done    bool
	blocked bool
}

// converse performs turns and compares their outcomes with the expected outcomes.
func converse(t *testing.T, e *agenttest.Env, set *agent.Set, script ...turn) *report.Outcome {
	t.Helper()
	var last *report.Outcome
	for i, turn := range script {
		r := agent.Request{Message: turn.say, HasMessage: true}
		if turn.say == "-" {
			r = agent.Request{}
		}
		o, err := e.Turn(context.Background(), set, r)
		if err != nil {
			t.Fatalf("turn %d (%q): %v", i+1, turn.say, err)
		}
		if !slices.Equal(o.Messages, turn.want) {
			t.Errorf("turn %d (%q): messages = %q; want %q", i+1, turn.say, o.Messages, turn.want)
		}
		if got := deref(o.Step); got != turn.step {
			t.Errorf("turn %d (%q): step = %q; want %q", i+1, turn.say, got, turn.step)
		}
		if got := deref(o.Collecting); got != turn.field {
			t.Errorf("turn %d (%q): collecting = %q; want %q", i+1, turn.say, got, turn.field)
		}
		if o.Done != turn.done || o.Blocked != turn.blocked {
			t.Errorf("turn %d (%q): done = %v, blocked = %v; want %v, %v", i+1, turn.say, o.Done, o.Blocked, turn.done, turn.blocked)
		}
		last = o
	}
	return last
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

const tripFlow = `AGENT: Trip
MEMORY:
  session:
    - nights
      TYPE: number
    - start
      TYPE: date
FLOW:
  collect:
    REASONING: false
    GATHER:
      - destination: required
      - start: required
      - nights: required
        PROMPT: "How many nights in {{destination}}?"
      - class: optional
        DEFAULT: "economy"
    SUB_INTENTS:
      - INTENT: "change destination"
        CLEAR: [destination]
        RESPOND: "What's the new destination?"
    DIGRESSION:
      - INTENT: "opening hours"
        RESPOND: "We are always open."
        RESUME: true
      - INTENT: "help"
        RESPOND: "What do you need?"
        RESUME: true
    THEN: confirm
  confirm:
    REASONING: false
    RESPOND: "{{destination}}, {{start}}, {{nights}} nights, {{class}}. Book?"
    ON_INPUT:
      - IF: input == "yes"
        THEN: COMPLETE
      - IF: input == "no"
        CLEAR: [destination, start, nights]
        THEN: collect
      - ELSE:
        RESPOND: "Please answer yes or no."
`

func TestGather(t *testing.T) {
	set := compile(t, nil, tripFlow)
	e := agenttest.New()
	o := converse(t, e, set,
		turn{say: "-", want: []string{"Please enter the destination."}, step: "collect", field: "destination"},
		turn{say: "Rome", want: []string{"Please enter the start."}, step: "collect", field: "start"},
		turn{say: "help", want: []string{"What do you need?", "Please enter the start."}, step: "collect", field: "start"},
		turn{say: "soon", want: []string{"Please enter a date, such as 2026-12-31."}, step: "collect", field: "start"},
		turn{say: "2026-12-24", want: []string{"How many nights in Rome?"}, step: "collect", field: "nights"},
		turn{say: "What are your opening hours?", want: []string{"We are always open.", "How many nights in Rome?"}, step: "collect", field: "nights"},
		turn{say: "please change my destination", want: []string{"What's the new destination?"}, step: "collect", field: "destination"},
		turn{say: "Bern", want: []string{"How many nights in Bern?"}, step: "collect", field: "nights"},
		turn{say: " 3 ", want: []string{"Bern, 2026-12-24, 3 nights, economy. Book?"}, step: "confirm"},
		turn{say: "-", want: []string{"Bern, 2026-12-24, 3 nights, economy. Book?"}, step: "confirm"},
		turn{say: "hm", want: []string{"Please answer yes or no."}, step: "confirm"},
		turn{say: "no", want: []string{"Please enter the destination."}, step: "collect", field: "destination"},
		turn{say: "Oslo", want: []string{"Please enter the start."}, step: "collect", field: "start"},
		turn{say: "2026-12-25", want: []string{"How many nights in Oslo?"}, step: "collect", field: "nights"},
		turn{say: "2", want: []string{"Oslo, 2026-12-25, 2 nights, economy. Book?"}, step: "confirm"},
		turn{say: "yes", want: []string{}, done: true},
	)
	want := map[string]any{"destination": "Oslo", "start": "2026-12-25", "nights": 2.0, "class": "economy"}
	if !maps.Equal(o.Variables, want) {
		t.Errorf("variables = %v; want %v", o.Variables, want)
	}
	// The flow begins again. The fields of GATHER still have their values.
	converse(t, e, set, turn{say: "hello", want: []string{"Oslo, 2026-12-25, 2 nights, economy. Book?"}, step: "confirm"})
}

func TestInputOfTheFirstMessage(t *testing.T) {
	const router = `AGENT: Router
FLOW:
  route:
    REASONING: false
    ON_INPUT:
      - IF: input contains "book"
        THEN: book
      - ELSE:
        RESPOND: "Do you want to book?"
  book:
    REASONING: false
    RESPOND: "Booking."
    THEN: COMPLETE
`
	set := compile(t, nil, router)
	converse(t, agenttest.New(), set, turn{say: "I want to book", want: []string{"Booking."}, done: true})
	converse(t, agenttest.New(), set,
		turn{say: "hi", want: []string{"Do you want to book?"}, step: "route"},
		turn{say: "book", want: []string{"Booking."}, done: true})
}

func TestCompleteWhen(t *testing.T) {
	set := compile(t, nil, `AGENT: Pay
FLOW:
  amount:
    REASONING: false
    GATHER:
      - amount: required
        TYPE: number
        PROMPT: "How much?"
    COMPLETE_WHEN: amount > 0
    MAX_ATTEMPTS: 3
    ON_EXHAUSTED: stop
    RESPOND: "Paying {{amount}}."
    THEN: COMPLETE
  stop:
    REASONING: false
    RESPOND: "Too many attempts."
    THEN: ESCALATE
`)
	converse(t, agenttest.New(), set,
		turn{say: "-", want: []string{"How much?"}, step: "amount", field: "amount"},
		turn{say: "-5", want: []string{"How much?"}, step: "amount", field: "amount"},
		turn{say: "7", want: []string{"Paying 7."}, done: true})
	o := converse(t, agenttest.New(), set,
		turn{say: "-", want: []string{"How much?"}, step: "amount", field: "amount"},
		turn{say: "x", want: []string{"Please enter a number, such as 3."}, step: "amount", field: "amount"},
		turn{say: "y", want: []string{"Please enter a number, such as 3."}, step: "amount", field: "amount"},
		turn{say: "z", want: []string{"Please enter a number, such as 3.", "Too many attempts."}})
	if !o.Escalate {
		t.Error("the turn does not escalate")
	}
}

const searchFlow = `AGENT: Search
FLOW:
  search:
    REASONING: false
    CALL: search_hotels(destination: input, limit, nothing)
    ON_SUCCESS:
      SET: count = call_result.hotels.length
      RESPOND: "Found {{count}}."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Sorry: {{call_error.code}}."
`

func TestCall(t *testing.T) {
	set := compile(t, []agent.Tool{{Name: "search_hotels"}}, searchFlow)
	e := agenttest.New()
	fail := true
	e.Tools["search_hotels"] = func(_ context.Context, e *agenttest.Env, input map[string]any) (any, error) {
		e.SetStored("user.searches", 1.0, 0, "")
		if fail {
			return nil, errors.New("no connection")
		}
		return map[string]any{"hotels": []any{map[string]any{"price": 80}}}, nil
	}
	converse(t, e, set, turn{say: "Rome", want: []string{"Sorry: tool_error."}, step: "search"})
	if _, ok := e.Stored("user.searches"); ok {
		t.Error("the write of a failed call was not undone")
	}
	if want := (agenttest.Call{Tool: "search_hotels", Input: map[string]any{"destination": "Rome"}}); !reflect.DeepEqual(e.Calls, []agenttest.Call{want}) {
		t.Errorf("calls = %v; want %v", e.Calls, want)
	}
	fail = false
	converse(t, e, set, turn{say: "Bern", want: []string{"Found 1."}, done: true})
	if _, ok := e.Stored("user.searches"); !ok {
		t.Error("user.searches is not set; want the write of the successful call")
	}
}

// TestFailedTurnHasNoEffect checks that a fault ends the turn if no ON_FAIL handles the fault. The
// turn must have no effect. The fault of the turn must name the call that failed.
func TestFailedTurnHasNoEffect(t *testing.T) {
	set := compile(t, []agent.Tool{{Name: "pay"}}, `AGENT: Pay
MEMORY:
  session:
    - visits
      RESET: never
      INITIAL: 0
  persistent:
    - user.amount
FLOW:
  pay:
    REASONING: false
    SET:
      - user.amount = 5
      - visits = visits + 1
    CALL: pay()
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.Tools["pay"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, errors.New("declined") }
	before := e.Dump()
	o, err := e.Say(context.Background(), set, "pay")
	if last := o.Trace[len(o.Trace)-1]; last.Kind != "call" || last.Result != "failed" || len(o.Messages)+len(o.Variables) != 0 {
		t.Errorf("outcome = %+v; want an outcome with only the trace", o)
	}
	if fault := abi.FaultOf(err); fault.Code != abi.ToolError || fault.File != "a.abl" || fault.Line != 15 || fault.Column != 11 || fault.Message != "the call to pay failed: declined" {
		t.Errorf("fault = %v at %s:%d:%d", fault, fault.File, fault.Line, fault.Column)
	}
	if after := e.Dump(); !maps.Equal(before, after) {
		t.Errorf("the failed turn changed %v to %v", before, after)
	}
	e.Tools["pay"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return true, nil }
	say(t, e, set, "pay")
	e.SessionID = "s2"
	if o := say(t, e, set, "pay"); o.Variables["visits"] != 2.0 {
		t.Errorf("variables = %v", o.Variables)
	}
}

func TestCheck(t *testing.T) {
	set := compile(t, nil, `AGENT: Check
MEMORY:
  session:
    - attempts
      INITIAL: 0
FLOW:
  try:
    REASONING: false
    SET: attempts = attempts + 1
    CHECK: attempts < 2
    ON_FAIL: stop
    RESPOND: "Welcome."
    THEN: COMPLETE
  stop:
    REASONING: false
    CHECK: attempts < 3
    ON_FAIL: "No more."
    RESPOND: "Careful."
    THEN: COMPLETE
`)
	converse(t, agenttest.New(), set,
		turn{say: "a", want: []string{"Welcome."}, done: true},
		turn{say: "b", want: []string{"Careful."}, done: true},
		turn{say: "c", want: []string{"No more."}, step: "stop"},
		turn{say: "d", want: []string{"No more."}, step: "stop"})
}

func TestTransform(t *testing.T) {
	set := compile(t, nil, `AGENT: T
FLOW:
  one:
    REASONING: false
    SET: hotels = [{n: "a", p: "30"}, {n: "b", p: 4}, {n: "c"}, {n: "d", p: 100}, {n: "e", p: 4}]
    TRANSFORM:
      SOURCE: hotels AS h
      INTO: cheap
      FILTER: h.n != "d"
      MAP:
        name: h.n
        price: h.p
      SORT_BY: price desc
      LIMIT: 3
    THEN: two
  two:
    REASONING: false
    TRANSFORM:
      SOURCE: nothing AS h
      INTO: empty
    THEN: COMPLETE
`)
	o := say(t, agenttest.New(), set, "go")
	want := []any{map[string]any{"name": "a", "price": "30"}, map[string]any{"name": "b", "price": 4.0}, map[string]any{"name": "e", "price": 4.0}}
	if !reflect.DeepEqual(o.Variables["cheap"], want) || !reflect.DeepEqual(o.Variables["empty"], []any{}) {
		t.Errorf("variables = %v", o.Variables)
	}
	if n := len(o.Variables["hotels"].([]any)); n != 5 {
		t.Errorf("the source has %d items", n)
	}
}

func TestResets(t *testing.T) {
	files := []string{`AGENT: A
MEMORY:
  session:
    - plain
      INITIAL: 0
    - active
      INITIAL: 0
      RESET: per_activation
    - step
      INITIAL: 0
      RESET: per_step
    - ever
      INITIAL: 0
      RESET: never
FLOW:
  one:
    REASONING: false
    SET:
      - plain = plain + 1
      - active = active + 1
      - step = step + 1
      - ever = ever + 1
    THEN: two
  two:
    REASONING: false
    SET: seen = step
    RESPOND: "{{plain}} {{active}} {{step}} {{ever}}"
    ON_INPUT:
      - IF: input == "b"
        THEN: HANDOFF B
      - ELSE:
        THEN: one
`, `AGENT: B
FLOW:
  one:
    REASONING: false
    RESPOND: "B"
    ON_INPUT:
      - ELSE:
        THEN: HANDOFF A
`}
	set := compile(t, nil, files...)
	e := agenttest.New()
	first, err := e.Turn(context.Background(), set, agent.Request{Agent: "A"})
	if err != nil || !slices.Equal(first.Messages, []string{"1 1 0 1"}) {
		t.Fatalf("messages = %q, %v", first.Messages, err)
	}
	converse(t, e, set,
		turn{say: "x", want: []string{"2 2 0 2"}, step: "two"},
		turn{say: "b", want: []string{"B"}, step: "one"},
		turn{say: "a", want: []string{"3 1 0 3"}, step: "two"})
	e.SessionID = "s2"
	o, err := e.Turn(context.Background(), set, agent.Request{Agent: "A"})
	if err != nil || !slices.Equal(o.Messages, []string{"1 1 0 4"}) {
		t.Errorf("messages = %q, %v", o.Messages, err)
	}
	e.User, e.SessionID = "bob", "s3"
	if o, err := e.Turn(context.Background(), set, agent.Request{Agent: "A"}); err != nil || !slices.Equal(o.Messages, []string{"1 1 0 1"}) {
		t.Errorf("another user receives %q, %v", o.Messages, err)
	}
}

func TestLoopsAreBounded(t *testing.T) {
	steps := compile(t, nil, `AGENT: Loop
FLOW:
  start:
    REASONING: false
    SET: n = 0
  one:
    REASONING: false
    CHECK: n == 0
    ON_FAIL: start
    THEN: two
  two:
    REASONING: false
    THEN: one
    CHECK: n == 0
    ON_FAIL: COMPLETE
`)
	_, err := agenttest.New().Say(context.Background(), steps, "go")
	if f := abi.FaultOf(err); f == nil || f.Code != abi.CallLimit || !strings.Contains(f.Message, "two -> one -> two") && !strings.Contains(f.Message, "one -> two -> one") {
		t.Errorf("fault = %v", f)
	}
	agents := compile(t, nil, `AGENT: A
FLOW:
  one:
    REASONING: false
    CHECK: x
    ON_FAIL: HANDOFF B
    THEN: COMPLETE
`, `AGENT: B
FLOW:
  one:
    REASONING: false
    CHECK: x
    ON_FAIL: HANDOFF A
    THEN: COMPLETE
`)
	_, err = agenttest.New().Turn(context.Background(), agents, agent.Request{Agent: "A"})
	if f := abi.FaultOf(err); f == nil || f.Code != abi.CallLimit || !strings.Contains(f.Message, "A -> B -> A") {
		t.Errorf("fault = %v", f)
	}
}

func TestValuesAreBounded(t *testing.T) {
	for name, value := range map[string]string{
		"objects": `{a: x, b: x}`,
		"arrays":  `[x, x, x, x, x, x, x, x]`,
		"texts":   `x + x`,
		"depth":   `{a: x}`,
	} {
		set := compile(t, nil, `AGENT: Grow
MEMORY:
  session:
    - x
      INITIAL: "abcdefgh"
    - n
      INITIAL: 0
FLOW:
  grow:
    REASONING: false
    SET:
      - x = `+value+`
      - n = n + 1
    CHECK: n < 90
    ON_FAIL: COMPLETE
    THEN: grow
`)
		_, err := agenttest.New().Say(context.Background(), set, "go")
		if f := abi.FaultOf(err); f == nil || f.Code != abi.TooLarge || f.Line != 12 {
			t.Errorf("%s: fault = %v", name, err)
		}
	}
	set := compile(t, nil, "AGENT: Search")
	_, err := agenttest.New().Turn(context.Background(), set, agent.Request{Agent: "Search", Message: strings.Repeat("x", 1<<20), HasMessage: true})
	if f := abi.FaultOf(err); f == nil || f.Code != abi.TooLarge {
		t.Errorf("fault = %v", err)
	}
}

func TestTypes(t *testing.T) {
	const source = `AGENT: T
MEMORY:
  session:
    - n
      TYPE: number
FLOW:
  one:
    REASONING: false
    SET: n = "three"
    THEN: COMPLETE
`
	o := say(t, agenttest.New(), compile(t, nil, source), "go")
	if o.Variables["n"] != "three" || len(o.Warnings) != 1 || !strings.HasPrefix(o.Warnings[0], "a.abl:9:10: n is declared as number") {
		t.Errorf("n = %v, warnings = %q", o.Variables["n"], o.Warnings)
	}
	_, err := agenttest.New().Say(context.Background(), compile(t, nil, strings.Replace(source, "MEMORY", "STRICT_TYPES: true\nMEMORY", 1)), "go")
	if f := abi.FaultOf(err); f == nil || f.Code != abi.SchemaViolation || f.Line != 10 {
		t.Errorf("fault = %v", err)
	}
}

func TestOnStartAndHooks(t *testing.T) {
	const source = `AGENT: H
ON_START:
  SET: started = 1
  RESPOND: "Hello."
HOOKS:
  before_turn:
    SET: turns = COALESCE(turns, 0) + 1
  after_turn:
    SET: turns = turns + 10
    CALL: audit()
FLOW:
  one:
    REASONING: false
    RESPOND: "{{turns}}"
    ON_INPUT:
      - ELSE:
        THEN: one
`
	e := agenttest.New()
	e.Tools["audit"] = func(_ context.Context, e *agenttest.Env, _ map[string]any) (any, error) {
		return nil, errors.New("full")
	}
	set := compile(t, []agent.Tool{{Name: "audit"}}, source)
	o := converse(t, e, set,
		turn{say: "-", want: []string{"Hello.", "1"}, step: "one"},
		turn{say: "a", want: []string{"2"}, step: "one"})
	if o.Variables["turns"] != 2.0 || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "the hook after_turn failed") {
		t.Errorf("turns = %v, warnings = %q", o.Variables["turns"], o.Warnings)
	}
	set = compile(t, []agent.Tool{{Name: "audit"}}, strings.Replace(source, "    CALL: audit()", "    CALL: audit()\n    critical: true", 1))
	if _, err := e.Say(context.Background(), set, "a"); abi.FaultOf(err) == nil || abi.FaultOf(err).Code != abi.ToolError {
		t.Errorf("error = %v", err)
	}
}

func TestCollect(t *testing.T) {
	const source = `AGENT: Wire
MEMORY:
  session:
    - amount
      TYPE: number
CONSTRAINTS:
  always:
    - REQUIRE amount IS SET BEFORE calling pay
      ON_FAIL:
        RESPOND: "How much?"
        COLLECT: [amount, currency]
        THEN: retry
FLOW:
  ask:
    REASONING: false
    RESPOND: "Pay?"
    ON_INPUT:
      - IF: input == "yes"
        SET: calls = COALESCE(calls, 0) + 1
        CALL: pay(amount, currency)
        ON_SUCCESS:
          RESPOND: "Paid {{amount}} {{currency}}, {{calls}}."
          THEN: COMPLETE
`
	e := agenttest.New()
	e.Tools["pay"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return "ok", nil }
	set := compile(t, []agent.Tool{{Name: "pay"}}, source)
	converse(t, e, set,
		turn{say: "-", want: []string{"Pay?"}, step: "ask"},
		turn{say: "yes", want: []string{"How much?"}, step: "ask", field: "amount", blocked: true},
		turn{say: "much", want: []string{"Please enter a number, such as 3."}, step: "ask", field: "amount"},
		turn{say: "5", want: []string{"Please enter the currency."}, step: "ask", field: "currency"},
		turn{say: "EUR", want: []string{"Paid 5 EUR, 1."}, done: true})
}

func TestCompileReportsProblems(t *testing.T) {
	d, _ := abl.Parse("a.abl", []byte(searchFlow))
	set, problems := agent.Compile([]*abl.Document{d}, []agent.Tool{{Name: "search_hotel"}})
	if err := problems.Err(); set != nil || err == nil || !strings.Contains(err.Error(), "did you mean search_hotel?") {
		t.Errorf("problems = %v", problems)
	}
}

func TestDigressionReturns(t *testing.T) {
	set := compile(t, nil, `AGENT: Trip
FLOW:
  ask:
    REASONING: false
    GATHER:
      - destination: required
      - date: required
    DIGRESSION:
      - INTENT: "prices"
        THEN: prices
        RESUME: true
    RESPOND: "{{destination}} {{date}}"
    THEN: COMPLETE
  prices:
    REASONING: false
    RESPOND: "Which class?"
    ON_INPUT:
      - ELSE:
        RESPOND: "{{input}} costs 10."
        THEN: COMPLETE
`)
	converse(t, agenttest.New(), set,
		turn{say: "-", want: []string{"Please enter the destination."}, step: "ask", field: "destination"},
		turn{say: "Rome", want: []string{"Please enter the date."}, step: "ask", field: "date"},
		turn{say: "What are the prices?", want: []string{"Which class?"}, step: "prices"},
		turn{say: "First", want: []string{"First costs 10.", "Please enter the date."}, step: "ask", field: "date"},
		turn{say: "May", want: []string{"Rome May"}, done: true})
}

func TestAssignItems(t *testing.T) {
	set := compile(t, nil, `AGENT: T
MEMORY:
  persistent:
    - user.list
FLOW:
  one:
    REASONING: false
    SET:
      - a = [{p: 1}, {p: 2}]
      - b = a
      - a[1].p = 3
      - a[2] = 4
      - user.list[0] = 5
      - user.list = [1]
      - user.list[1] = 2
    THEN: COMPLETE
`)
	e := agenttest.New()
	o := say(t, e, set, "go")
	want := map[string]any{
		"a": []any{map[string]any{"p": 1.0}, map[string]any{"p": 3.0}, 4.0},
		"b": []any{map[string]any{"p": 1.0}, map[string]any{"p": 2.0}},
	}
	if !reflect.DeepEqual(o.Variables, want) {
		t.Errorf("variables = %v; want %v", o.Variables, want)
	}
	if list, _ := e.Stored("user.list"); !reflect.DeepEqual(list, []any{1.0, 2.0}) {
		t.Errorf("user.list = %v", list)
	}
}

// TestAttemptsCountRuns checks the number of attempts of a step. An attempt that a constraint
// prevented from running must not be counted.
func TestAttemptsCountRuns(t *testing.T) {
	set := compile(t, nil, `AGENT: T
MEMORY:
  persistent:
    - user.open
CONSTRAINTS:
  always:
    - REQUIRE user.open
      ON_FAIL: "Closed."
FLOW:
  one:
    REASONING: false
    MAX_ATTEMPTS: 1
    RESPOND: "Open."
    THEN: COMPLETE
`)
	e := agenttest.New()
	converse(t, e, set, turn{say: "a", want: []string{"Closed."}, step: "one", blocked: true}, turn{say: "b", want: []string{"Closed."}, step: "one", blocked: true})
	e.SetStored("user.open", true, 0, "")
	converse(t, e, set, turn{say: "c", want: []string{"Open."}, done: true})
}

// TestStateIsBounded checks that many small values cannot make the state of an agent larger than
// its maximum size.
func TestStateIsBounded(t *testing.T) {
	var sets strings.Builder
	for i := range 40 {
		fmt.Fprintf(&sets, "      - v%d = REPEAT(\"x\", 90000)\n", i)
	}
	set := compile(t, nil, "AGENT: T\nFLOW:\n  one:\n    REASONING: false\n    SET:\n"+sets.String()+"    THEN: COMPLETE\n")
	e := agenttest.New()
	_, err := e.Say(context.Background(), set, "go")
	if f := abi.FaultOf(err); f == nil || f.Code != abi.TooLarge || !strings.Contains(f.Message, "the session variables of the agent T") || len(e.Dump()) != 0 {
		t.Errorf("error = %v, stored %d records", err, len(e.Dump()))
	}
}

// TestStandardQuestion checks when the standard question for a field is sent. The question must be
// omitted if the last message is already a question.
func TestStandardQuestion(t *testing.T) {
	for message, want := range map[string][]string{
		"Welcome!":  {"Welcome!", "Please enter the name."},
		"Who? ":     {"Who? "},
		"Wer sind?": {"Wer sind?"},
	} {
		set := compile(t, nil, "AGENT: T\nFLOW:\n  a:\n    REASONING: false\n    RESPOND: \""+message+"\"\n    THEN: b\n  b:\n    REASONING: false\n    GATHER:\n      - name: required\n    THEN: COMPLETE\n")
		converse(t, agenttest.New(), set,
			turn{say: "-", want: want, step: "b", field: "name"},
			turn{say: "-", want: []string{"Please enter the name."}, step: "b", field: "name"})
	}
}
