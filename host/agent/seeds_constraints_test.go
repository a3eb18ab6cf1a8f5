package agent_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
)

// ruleBlock executes one unchanged code block of the documentation page about memory and
// constraints.
type ruleBlock struct {
	block int
	name  string
	check func(t *testing.T, block string)
}

// TestSeed000 executes every code block of the documentation page about memory and constraints.
func TestSeed000(t *testing.T) {
	blocks := seedBlocks(t, "000_abl_memory_and_constraints.txt")
	if len(ruleBlocks) != len(blocks) {
		t.Errorf("the page has %d blocks, and the table %d", len(blocks), len(ruleBlocks))
	}
	for i, b := range ruleBlocks {
		if b.block != i+1 {
			t.Fatalf("the block %d is missing", i+1)
		}
		t.Run(b.name, func(t *testing.T) { b.check(t, blocks[i]) })
	}
}

// ruleBlocks contains the cases for the code blocks, in the order of the page.
var ruleBlocks = []ruleBlock{
	{1, "000-1 overview", checkOverview},
	{2, "000-2 session syntax", checkSessionSyntax},
	{3, "000-3 typed session variables", checkTypedVariables},
	{4, "000-4 persistent variables", checkPersistent},
	{5, "000-5 remember triggers", checkTriggers},
	{6, "000-6 recall instructions", checkRecalls},
	{7, "000-7 session variables in a template", checkTemplate},
	{8, "000-8 COALESCE of a path", checkCoalesce},
	{9, "000-9 constraints in order", checkOrder},
	{10, "000-10 constraint syntax", checkConstraintSyntax},
	{11, "000-11 REQUIRE", checkRequire},
	{12, "000-12 LIMIT", checkLimit},
	{13, "000-13 RESTRICT", checkRestrict},
	{14, "000-14 WHEN", checkWhen},
	{15, "000-15 BEFORE", checkBefore},
	{16, "000-16 ON_FAIL message", checkFailMessage},
	{17, "000-17 ON_FAIL HANDOFF", checkFailHandoff},
	{18, "000-18 ON_FAIL ESCALATE", checkFailEscalate},
	{19, "000-19 ON_FAIL BLOCK", checkFailBlock},
	{20, "000-20 structured ON_FAIL", checkStructured},
	{21, "000-21 collect and retry", checkCollectRetry},
	{22, "000-22 GOTO", checkGoto},
	{23, "000-23 WARN", checkWarn},
	{24, "000-24 interpolation", checkInterpolation},
}

const officer = "AGENT: Compliance_Officer\nFLOW:\n  greet:\n    REASONING: false\n    RESPOND: \"Compliance here.\"\n    THEN: COMPLETE\n"

const okFlow = "FLOW:\n  go:\n    REASONING: false\n    RESPOND: \"ok\"\n    THEN: COMPLETE\n"

// ruled returns an agent that has the constraints of a block, and initial values for variables.
func ruled(block string, variables ...string) string {
	source := "AGENT: Sample\n"
	if len(variables) > 0 {
		source += starting(variables...)
	}
	if !strings.HasPrefix(block, "CONSTRAINTS:") {
		block = "CONSTRAINTS:\n  rules:\n" + indent(block, "    ")
	}
	return source + block + okFlow
}

// onFailOf returns an agent with a failing constraint. The code block is the ON_FAIL of this
// constraint.
func onFailOf(block string, variables ...string) string {
	return ruled("- REQUIRE allowed == true\n"+indent(block, "  "), variables...)
}

// The function "first" performs the first turn of the first agent in a new session.
func first(t *testing.T, files ...string) *report.Outcome {
	t.Helper()
	o, err := agenttest.New().Turn(context.Background(), compile(t, nil, files...), agent.Request{Agent: "Sample", Message: "hello", HasMessage: true})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// wantPassed checks whether the constraints of an agent pass in its first turn.
func wantPassed(t *testing.T, passed bool, message string, source string) {
	t.Helper()
	o := first(t, source)
	want := []string{message}
	if passed {
		want = []string{"ok"}
	}
	if o.Blocked == passed || !slices.Equal(o.Messages, want) || o.Done != passed {
		t.Errorf("%s\nblocked = %v, done = %v, messages = %q; want passed = %v, %q", source, o.Blocked, o.Done, o.Messages, passed, want)
	}
}

func checkOverview(t *testing.T, block string) {
	e := agenttest.New()
	set := compile(t, nil, "AGENT: Sample\n"+block+`FLOW:
  ask:
    REASONING: false
    GATHER:
      - user_language: required
    SET:
      - user.preferred_language = user_language
      - order_total = order_total + 25
    THEN: more
  more:
    REASONING: false
    RESPOND: "{{order_total}}"
    ON_INPUT:
      - ELSE:
        SET: order_total = order_total + 1
        RESPOND: "{{order_total}} {{user.preferred_language}}"
        THEN: COMPLETE
`)
	o := say(t, e, set, "hello")
	if want := map[string]any{"user.preferred_language": nil, "user.loyalty_tier": nil}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	wantVariables(t, o, map[string]any{"customer_id": nil, "order_total": 0.0})
	if _, ok := e.Stored("user.language"); ok {
		t.Error("the trigger fires although the variable is not set")
	}
	wantMessages(t, say(t, e, set, "de"), "25")
	if language, _ := e.Stored("user.language"); language != "de" || !e.Expires("user.language").Equal(e.Clock.Add(90*24*time.Hour)) {
		t.Errorf("user.language = %v until %v", language, e.Expires("user.language"))
	}
	wantMessages(t, say(t, e, set, "one more"), "26 de")
	e.SessionID = "s2"
	o = say(t, e, set, "hello")
	if want := map[string]any{"user.preferred_language": "de", "user.loyalty_tier": nil}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	wantVariables(t, o, map[string]any{"order_total": 0.0})
	e.Clock = e.Clock.Add(90 * 24 * time.Hour)
	if _, ok := e.Stored("user.language"); ok {
		t.Error("the fact outlives its TTL")
	}
}

func checkSessionSyntax(t *testing.T, block string) {
	d, problems := abl.Parse("a.abl", []byte("AGENT: Sample\n"+block))
	if problems.Err() != nil || len(problems) != 1 || problems[0].Code != problem.DuplicateName {
		t.Errorf("problems = %v; want a warning about the duplicate", problems)
	}
	if v := d.Memory.Session[1]; v.Type != "string" || v.Description != "Human-readable description" || v.Reset != abl.ResetSession {
		t.Errorf("variable = %+v", v)
	}
	wantVariables(t, first(t, "AGENT: Sample\n"+block+okFlow), map[string]any{"variable_name": "default_value"})
}

func checkTypedVariables(t *testing.T, block string) {
	e := agenttest.New()
	set := compile(t, nil, "AGENT: Sample\n"+block+`FLOW:
  add:
    REASONING: false
    SET:
      - cart_items = [input]
      - attempt_count = attempt_count + 1
    RESPOND: "{{attempt_count}}"
    THEN: show
  show:
    REASONING: false
    RESPOND: "{{attempt_count}} {{cart_items[0]}}"
    THEN: COMPLETE
`)
	wantMessages(t, say(t, e, set, "book"), "1", "0 book")
	o := say(t, e, set, "pen")
	wantMessages(t, o, "1", "0 pen")
	wantVariables(t, o, map[string]any{"cart_items": []any{"pen"}, "attempt_count": 0.0})
}

func checkPersistent(t *testing.T, block string) {
	e := agenttest.New()
	set := compile(t, nil, "AGENT: Sample\n"+block+`FLOW:
  show:
    REASONING: false
    SET: user.preferred_chains = input
    RESPOND: "{{user.wire_history_30d.length}} {{project.exchange_rates.usd}} {{user.preferred_chains}}"
    THEN: COMPLETE
`)
	wantMessages(t, say(t, e, set, "Ritz"), "0  Ritz")
	e.SetStored("project.exchange_rates", map[string]any{"usd": 1.1}, 0, "")
	e.User, e.SessionID = "bob", "s2"
	if _, ok := e.Stored("user.preferred_chains"); ok {
		t.Error("two users share a fact of the scope user")
	}
	wantMessages(t, say(t, e, set, "Hilton"), "0 1.1 Hilton")
	_, problems := abl.Parse("a.abl", []byte("AGENT: Sample\n"+block+"ON_START:\n  SET: project.exchange_rates = 2\n"))
	if problems.Err() == nil || problems[0].Code != problem.Access {
		t.Errorf("problems of a write to a fact with ACCESS: read = %v", problems)
	}
}

func checkTriggers(t *testing.T, block string) {
	e := agenttest.New()
	set := compile(t, nil, "AGENT: Sample\n"+block+`FLOW:
  name:
    REASONING: false
    SET: user_name = input
    THEN: wait
  wait:
    REASONING: false
    RESPOND: "Which language?"
    ON_INPUT:
      - ELSE:
        SET: preferred_language = input
        THEN: COMPLETE
`)
	say(t, e, set, "Ann")
	if name, _ := e.Stored("user.name"); name != "Ann" || !e.Expires("user.name").Equal(e.Clock.Add(90*24*time.Hour)) {
		t.Errorf("user.name = %v until %v", name, e.Expires("user.name"))
	}
	if _, ok := e.Stored("user.language"); ok {
		t.Error("user.language is stored although its condition is false")
	}
	expires := e.Expires("user.name")
	e.Clock = e.Clock.Add(time.Hour)
	say(t, e, set, "fr")
	if language, _ := e.Stored("user.language"); language != "fr" || !e.Expires("user.language").IsZero() {
		t.Errorf("user.language = %v until %v; want fr without an end", language, e.Expires("user.language"))
	}
	if !e.Expires("user.name").Equal(expires) {
		t.Error("an equal value is stored again")
	}
}

func checkRecalls(t *testing.T, block string) {
	e := agenttest.New()
	e.SetStored("user.name", "Ann", 0, "")
	e.SetStored("user.travel_preferences.seat", "aisle", 0, "")
	e.SetStored("user.seat", "window", 0, "travel_preferences")
	e.SetStored("user.other.x", 1.0, 0, "")
	set := compile(t, nil, "AGENT: Sample\n"+block+"FLOW:\n  greet:\n    REASONING: false\n    RESPOND: \"Hello {{user.name}}.\"\n    THEN: COMPLETE\n")
	o := say(t, e, set, "hello")
	wantMessages(t, o, "Hello Ann.")
	if want := map[string]any{"user.name": "Ann", "user.language": nil, "user.preferred_agent": nil}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	if want := []string{"Greet the user by name if known"}; !slices.Equal(o.Instructions, want) {
		t.Errorf("instructions = %q; want %q", o.Instructions, want)
	}
	o, err := e.Turn(context.Background(), set, agent.Request{Event: "search:before"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"user.travel_preferences.seat": "aisle", "user.seat": "window"}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected before a search = %v; want %v", o.Injected, want)
	}
	if len(o.Messages)+len(o.Instructions) > 0 {
		t.Errorf("the event sends %q and %q", o.Messages, o.Instructions)
	}
}

func checkTemplate(t *testing.T, block string) {
	source := inStep(starting(`customer_name = "Ann"`, "available_balance = 12.5"), "")(block)
	wantMessages(t, first(t, source), "Hello, Ann! Your balance is 12.5.")
	wantMessages(t, first(t, inStep("", "")(block)), "Hello, ! Your balance is .")
}

func checkCoalesce(t *testing.T, block string) {
	e := agenttest.New()
	set := compile(t, nil, inStep("MEMORY:\n  persistent:\n    - user.name\n", "")(block))
	wantVariables(t, say(t, e, set, "hello"), map[string]any{"greeting": "valued customer"})
	e.SetStored("user.name", "Ann", 0, "")
	wantVariables(t, say(t, e, set, "hello"), map[string]any{"greeting": "Ann"})
}

func checkOrder(t *testing.T, block string) {
	verify := "Please verify your identity first."
	for _, tt := range []struct {
		variables []string
		messages  []string
		agent     string
		blocked   bool
	}{
		{[]string{"amount = 500", "available_balance = 100"}, []string{verify}, "Sample", true},
		{[]string{"customer_verified = false"}, []string{verify}, "Sample", true},
		{[]string{"customer_verified = true", "amount = 500", "available_balance = 100"}, []string{"Insufficient funds. Your available balance is 100."}, "Sample", true},
		{[]string{"customer_verified = true"}, []string{"Insufficient funds. Your available balance is ."}, "Sample", true},
		{[]string{"customer_verified = true", "amount = 5", "available_balance = 100"}, []string{"Compliance here."}, "Compliance_Officer", true},
		{[]string{"customer_verified = true", "amount = 5", "available_balance = 100", "sanctions_clear = true"}, []string{"ok"}, "Sample", false},
	} {
		o := first(t, ruled(block, tt.variables...), officer)
		if !slices.Equal(o.Messages, tt.messages) || o.Agent != tt.agent || o.Blocked != tt.blocked {
			t.Errorf("%v: agent %s, blocked %v, messages %q; want %+v", tt.variables, o.Agent, o.Blocked, o.Messages, tt)
		}
	}
}

func checkConstraintSyntax(t *testing.T, block string) {
	d, problems := abl.Parse("a.abl", []byte("AGENT: Sample\n"+block))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if c := d.Constraints[0]; c.Phase != "phase_name" || c.Rule != abl.RuleRequire {
		t.Errorf("constraint = %+v", c)
	}
	wantPassed(t, false, "action_or_message", ruled(block))
	wantPassed(t, true, "", ruled(block, "condition_expression = true"))
}

func checkRequire(t *testing.T, block string) {
	message := "Wire transfers require an active account."
	wantPassed(t, true, message, ruled(block, `account_status = "active"`))
	wantPassed(t, false, message, ruled(block, `account_status = "closed"`))
	wantPassed(t, false, message, ruled(block))
}

func checkLimit(t *testing.T, block string) {
	message := "This would exceed your daily wire limit of 100."
	wantPassed(t, true, message, ruled(block, "daily_wire_used = 40", "amount = 60", "daily_wire_limit = 100"))
	wantPassed(t, false, message, ruled(block, "daily_wire_used = 40", "amount = 61", "daily_wire_limit = 100"))
	wantPassed(t, false, message, ruled(block, "amount = 1", "daily_wire_limit = 100"))
	wantPassed(t, false, "This would exceed your daily wire limit of .", ruled(block))
}

func checkRestrict(t *testing.T, block string) {
	message := "Transfers to that destination are prohibited under sanctions regulations."
	wantPassed(t, false, message, ruled(block, `beneficiary_country = "KP"`))
	wantPassed(t, true, message, ruled(block, `beneficiary_country = "CH"`))
	wantPassed(t, true, message, ruled(block))
}

func checkWhen(t *testing.T, block string) {
	message := "SSN cannot be collected on voice."
	wantPassed(t, false, message, ruled(block, `ssn = "123"`, `channel = "voice"`))
	wantPassed(t, true, message, ruled(block, `ssn = "123"`, `channel = "web"`))
	wantPassed(t, true, message, ruled(block, `channel = "voice"`))
	wantPassed(t, false, message, ruled(block, `ssn = "123"`)) // the channel is unknown, so the rule applies
}

func checkBefore(t *testing.T, block string) {
	agentWith := func(variables ...string) string {
		return strings.Replace(ruled(block, append(variables, "ready = true")...), "    RESPOND: \"ok\"\n", "    CALL: search_aggregate()\n    RESPOND: \"ok\"\n", 1)
	}
	for _, tt := range []struct {
		variables []string
		message   string
		calls     int
	}{
		{nil, "Select a measure before running the aggregate search.", 0},
		{[]string{`measure_field = "m"`}, "Validate the aggregation before responding.", 1},
		{[]string{`measure_field = "m"`, "aggregation_validated = true"}, "ok", 1},
	} {
		e := agenttest.New()
		e.Tools["search_aggregate"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
		o := say(t, e, compile(t, []agent.Tool{{Name: "search_aggregate"}}, agentWith(tt.variables...)), "hello")
		if !slices.Equal(o.Messages, []string{tt.message}) || len(e.Calls) != tt.calls || o.Blocked != (tt.message != "ok") {
			t.Errorf("%v: %d calls, blocked %v, messages %q; want %+v", tt.variables, len(e.Calls), o.Blocked, o.Messages, tt)
		}
	}
}

func checkFailMessage(t *testing.T, block string) {
	wantPassed(t, false, "Insufficient funds. Available balance: 12.5.", onFailOf(block, "available_balance = 12.5"))
}

func checkFailHandoff(t *testing.T, block string) {
	o := first(t, onFailOf(block), officer)
	wantMessages(t, o, "Compliance here.")
	if o.Agent != "Compliance_Officer" || deref(o.Handoff) != "Compliance_Officer" || !o.Blocked {
		t.Errorf("agent = %s, handoff = %s, blocked = %v", o.Agent, deref(o.Handoff), o.Blocked)
	}
}

func checkFailEscalate(t *testing.T, block string) {
	o := first(t, onFailOf(block))
	if !o.Escalate || !o.Blocked || len(o.Messages) > 0 || o.Done {
		t.Errorf("escalate = %v, blocked = %v, done = %v, messages = %q", o.Escalate, o.Blocked, o.Done, o.Messages)
	}
}

func checkFailBlock(t *testing.T, block string) {
	o := first(t, onFailOf(block))
	if o.Escalate || !o.Blocked || len(o.Messages) > 0 || len(o.Warnings) > 0 || o.Done {
		t.Errorf("blocked = %v, done = %v, messages = %q, warnings = %q", o.Blocked, o.Done, o.Messages, o.Warnings)
	}
}

func checkStructured(t *testing.T, block string) {
	converse(t, agenttest.New(), compile(t, nil, ruled(block)),
		turn{say: "hello", want: []string{"I need your payment method before proceeding."}, step: "go", field: "payment_method", blocked: true},
		turn{say: "card", want: []string{"ok"}, done: true},
	)
}

func checkCollectRetry(t *testing.T, block string) {
	e := agenttest.New() // on 23 November 2026
	last := converse(t, e, compile(t, nil, ruled(block)),
		turn{say: "hello", want: []string{"I need your travel dates to check availability."}, step: "go", field: "departure_date", blocked: true},
		turn{say: "2026-11-22", want: []string{"Please enter the return date."}, step: "go", field: "return_date"},
		turn{say: "2026-12-09", want: []string{"The departure date must be in the future. What date works for you?"}, step: "go", field: "departure_date", blocked: true},
		turn{say: "2026-11-23", want: []string{"The departure date must be in the future. What date works for you?"}, step: "go", field: "departure_date", blocked: true},
		turn{say: "2026-11-24", want: []string{"ok"}, done: true},
	)
	wantVariables(t, last, map[string]any{"departure_date": "2026-11-24", "return_date": "2026-12-09"})
}

func checkGoto(t *testing.T, block string) {
	e := agenttest.New()
	source := strings.Replace(ruled(block), "CONSTRAINTS:", "MEMORY:\n  persistent:\n    - user.verified\nCONSTRAINTS:", 1) + `  identity_verification_step:
    REASONING: false
    GATHER:
      - code: required
    SET: user.verified = code == "1234"
    THEN: go
`
	set := compile(t, nil, source)
	verify := "You need to verify your identity first."
	converse(t, e, set,
		turn{say: "hello", want: []string{verify, "Please enter the code."}, step: "identity_verification_step", field: "code", blocked: true},
		turn{say: "1234", want: []string{"ok"}, done: true},
	)
	e.SessionID = "s2" // the fact still exists after the end of the session
	converse(t, e, set, turn{say: "hello", want: []string{"ok"}, done: true})
}

func checkWarn(t *testing.T, block string) {
	for _, tt := range []struct {
		score    string
		warnings []string
	}{
		{"59", []string{}},
		{"60", []string{"a.abl:7:7: Transaction flagged for review."}},
	} {
		o := first(t, ruled(block, "fraud_score = "+tt.score))
		wantMessages(t, o, "ok")
		if o.Blocked || !slices.Equal(o.Warnings, tt.warnings) {
			t.Errorf("score %s: blocked = %v, warnings = %q; want %q", tt.score, o.Blocked, o.Warnings, tt.warnings)
		}
	}
}

func checkInterpolation(t *testing.T, block string) {
	wantPassed(t, false, "This wire would exceed your daily limit of 100. You've sent 40 today.", ruled(block, "daily_wire_used = 40", "amount = 61", "daily_wire_limit = 100"))
	wantPassed(t, true, "", ruled(block, "daily_wire_used = 40", "amount = 60", "daily_wire_limit = 100"))
}
