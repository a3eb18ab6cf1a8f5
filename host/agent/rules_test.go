package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

// takes is a step that assigns the message of the user to a variable.
func takes(name string) string {
	return "FLOW:\n  take:\n    REASONING: false\n    SET: " + name + " = input\n    THEN: COMPLETE\n"
}

func TestAppendTriggers(t *testing.T) {
	for _, tt := range []struct {
		name, properties string
		stored           any
		say              []string
		want             []any
	}{
		{"a new array", "", nil, []string{"a", "b"}, []any{"a", "b"}},
		{"an array with items", "", []any{1.0}, []string{"a"}, []any{1.0, "a"}},
		{"not an array", "", "x", []string{"a"}, []any{"x", "a"}},
		{"equal values of two turns", "", nil, []string{"a", "a"}, []any{"a"}},
		{"duplicates", "", nil, []string{"a", "b", "a"}, []any{"a", "b", "a"}},
		{"unique", "        unique: true\n", nil, []string{"a", "b", "a"}, []any{"a", "b"}},
		{"unique of a stored item", "        unique: true\n", []any{"a"}, []string{"a"}, []any{"a"}},
		{"maxSize keeps the newest", "        maxSize: 2\n", nil, []string{"a", "b", "c"}, []any{"b", "c"}},
		{"maxSize of a longer array", "        maxSize: 2\n", []any{1.0, 2.0, 3.0}, []string{"a"}, []any{3.0, "a"}},
		{"unique and maxSize", "        unique: true\n        maxSize: 2\n", nil, []string{"a", "b", "a", "c"}, []any{"b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := agenttest.New()
			if tt.stored != nil {
				e.SetStored("user.queries", tt.stored, 0, "")
			}
			set := compile(t, nil, "AGENT: A\nMEMORY:\n  remember:\n    - WHEN: last IS SET\n      STORE:\n        value: last\n        target: user.queries\n        operation: append\n"+tt.properties+takes("last"))
			for _, message := range tt.say {
				say(t, e, set, message)
			}
			if got, _ := e.Stored("user.queries"); !reflect.DeepEqual(got, any(tt.want)) {
				t.Errorf("user.queries = %v; want %v", got, tt.want)
			}
		})
	}
}

// TestAppendToFullFact checks that a conversation can continue after a trigger has tried to append
// to a full list.
func TestAppendToFullFact(t *testing.T) {
	e := agenttest.New()
	full := []any{strings.Repeat("x", agent.MaxValueBytes-10)}
	e.SetStored("user.queries", full, 0, "")
	set := compile(t, nil, "AGENT: A\nMEMORY:\n  remember:\n    - WHEN: last IS SET\n      STORE:\n        value: last\n        target: user.queries\n        operation: append\n"+takes("last"))
	o := say(t, e, set, "one more item")
	if got, _ := e.Stored("user.queries"); len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "is full") || !reflect.DeepEqual(got, any(full)) {
		t.Errorf("warnings %q", o.Warnings)
	}
}

// TestAppendToWriteOnly checks that a trigger can append to a fact that the agent cannot read.
func TestAppendToWriteOnly(t *testing.T) {
	e := agenttest.New()
	set := compile(t, nil, "AGENT: A\nMEMORY:\n  persistent:\n    - user.log\n      ACCESS: write\n  remember:\n    - WHEN: last IS SET\n      STORE:\n        value: last\n        target: user.log\n        operation: append\n"+takes("last"))
	say(t, e, set, "a")
	say(t, e, set, "b")
	if got, _ := e.Stored("user.log"); !reflect.DeepEqual(got, []any{"a", "b"}) {
		t.Errorf("user.log = %v", got)
	}
}

func TestTriggerRules(t *testing.T) {
	source := `AGENT: A
MEMORY:
  persistent:
    - user.copy
    - user.travel.seat
      DOMAIN: "flights"
  remember:
    - WHEN: last IS SET
      STORE: last -> user.first
      TTL: "1h"
    - WHEN: user.first IS SET
      STORE: user.first -> user.copy
      DOMAIN: "copies"
    - WHEN: true
      STORE: unknown -> user.nothing
    - WHEN: NOT last
      STORE: "never" -> user.never
    - WHEN: true
      STORE: "12A" -> user.travel.seat
` + takes("last")
	e := agenttest.New()
	set := compile(t, nil, source)
	o := say(t, e, set, "a")
	for path, want := range map[string]any{"user.first": "a", "user.copy": "a", "user.nothing": nil, "user.never": nil} {
		if got, _ := e.Stored(path); got != want {
			t.Errorf("%s = %v; want %v", path, got, want)
		}
	}
	var results []string
	for _, entry := range o.Trace {
		if entry.Kind == "trigger" {
			results = append(results, entry.Name+" "+entry.Result)
		}
	}
	if want := []string{"user.first stored", "user.copy stored", "user.nothing unset", "user.never skipped", "user.travel.seat stored"}; !slices.Equal(results, want) {
		t.Errorf("trace = %q; want %q", results, want)
	}
	for domain, want := range map[string]string{"copies": "user.copy", "flights": "user.travel.seat", "first": "user.first"} {
		facts, err := e.Context(context.Background(), "A", nil, domain)
		if err != nil || len(facts) != 1 || facts[0].Path != want {
			t.Errorf("the domain %s contains %v, %v; want %s", domain, facts, err, want)
		}
	}
	e.Clock = e.Clock.Add(30 * time.Minute)
	say(t, e, set, "a")
	if got := e.Expires("user.first"); !got.Equal(agenttest.New().Clock.Add(time.Hour)) {
		t.Errorf("an equal value moves the end to %v", got)
	}
	say(t, e, set, "b")
	if got := e.Expires("user.first"); !got.Equal(e.Clock.Add(time.Hour)) {
		t.Errorf("a new value ends at %v", got)
	}
	e.SessionID = "s2"
	e.SetStored("user.first", "other", 0, "")
	say(t, e, set, "b")
	if got, _ := e.Stored("user.first"); got != "b" {
		t.Errorf("user.first = %v; another session has not stored b yet", got)
	}
}

// noUser is an environment without a user.
type noUser struct{ *agenttest.Env }

var errNoUser = abi.Faultf(abi.NoUser, "the session has no user")

func (e noUser) Fact(ctx context.Context, a, path string) (any, bool, error) {
	if strings.HasPrefix(path, "user.") {
		return nil, false, errNoUser
	}
	return e.Env.Fact(ctx, a, path)
}

func (e noUser) SetFact(ctx context.Context, a, path string, value any, o agent.FactOptions) error {
	if strings.HasPrefix(path, "user.") {
		return errNoUser
	}
	return e.Env.SetFact(ctx, a, path, value, o)
}

func (e noUser) Context(ctx context.Context, a string, paths []string, domain string) ([]agent.Fact, error) {
	if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, "user.") }) {
		return nil, errNoUser
	}
	return e.Env.Context(ctx, a, paths, domain)
}

// TestRulesWithoutUser runs recalls and triggers that use facts of the user in a session without a
// user. They must not make a turn fail.
func TestRulesWithoutUser(t *testing.T) {
	set := compile(t, nil, `AGENT: A
MEMORY:
  persistent:
    - user.name
      DEFAULT: "guest"
    - project.motto
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.name, project.motto]
  remember:
    - WHEN: last IS SET
      STORE: last -> user.name
    - WHEN: last IS SET
      STORE: last -> project.last
`+takes("last"))
	e := noUser{agenttest.New()}
	e.SetStored("project.motto", "carpe diem", 0, "")
	o, err := set.Turn(context.Background(), e, agent.Request{Message: "Ann", HasMessage: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"user.name": "guest", "project.motto": "carpe diem"}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	if last, _ := e.Stored("project.last"); last != "Ann" {
		t.Errorf("project.last = %v", last)
	}
	if len(o.Warnings) != 2 || !strings.Contains(o.Warnings[0], "user.name belongs to a user, but the run has no user") {
		t.Errorf("warnings = %q", o.Warnings)
	}
}

// TestRecallEvents checks that an event of a turn fires the recalls for its name and for its
// wildcard, in the order of the file.
func TestRecallEvents(t *testing.T) {
	events := []string{
		"session:start", "session:end", "search:before", "agent:A:before", "agent:*:before", "agent:A:after", "agent:B:after", "tool:t:after", "tool:*:after",
		"tool:other:after", "entity:city:extracted", "entity:*:extracted", "step:enter:ask", "step:enter:*", "step:exit:ask", "step:exit:*", "step:enter:other",
	}
	var recalls strings.Builder
	for _, event := range events {
		fmt.Fprintf(&recalls, "    - ON: %s\n      INSTRUCTION: %q\n", event, event)
	}
	set := compile(t, []agent.Tool{{Name: "t"}}, "AGENT: A\nMEMORY:\n  recall:\n"+recalls.String()+`FLOW:
  ask:
    REASONING: false
    GATHER:
      - city: required
    CALL: t(city)
    THEN: COMPLETE
`)
	e := agenttest.New()
	e.Tools["t"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
	o := say(t, e, set, "hello")
	if want := []string{"session:start", "agent:A:before", "agent:*:before", "step:enter:ask", "step:enter:*"}; !slices.Equal(o.Instructions, want) {
		t.Errorf("instructions = %q; want %q", o.Instructions, want)
	}
	o = say(t, e, set, "Bern")
	want := []string{"entity:city:extracted", "entity:*:extracted", "tool:t:after", "tool:*:after", "step:exit:ask", "step:exit:*", "agent:A:after"}
	if !slices.Equal(o.Instructions, want) {
		t.Errorf("instructions = %q; want %q", o.Instructions, want)
	}
	for _, event := range []string{"session:end", "search:before"} {
		o, err := e.Turn(context.Background(), set, agent.Request{Event: event})
		if err != nil || !slices.Equal(o.Instructions, []string{event}) {
			t.Errorf("%s: instructions = %q, %v", event, o.Instructions, err)
		}
	}
}

// TestDomainRecall checks that a recall of a domain loads the stored facts and the defaults of the
// domain. The recall must not load facts that the agent cannot read.
func TestDomainRecall(t *testing.T) {
	set := compile(t, nil, `AGENT: A
MEMORY:
  persistent:
    - user.travel.seat
    - user.travel.meal
      DEFAULT: "any"
    - user.travel.log
      ACCESS: write
    - user.city
      DOMAIN: "travel"
      DEFAULT: "Bern"
  recall:
    - ON: session:start
      ACTION: load_memory
      DOMAIN: "travel"
`)
	e := agenttest.New()
	e.SetStored("user.travel.seat", "aisle", 0, "")
	e.SetStored("user.travel.log", "secret", 0, "")
	e.SetStored("user.city", "Rome", 0, "travel")
	e.SetStored("user.elsewhere", 1.0, 0, "travel")
	o := begin(t, e, set)
	want := map[string]any{"user.travel.seat": "aisle", "user.travel.meal": "any", "user.city": "Rome", "user.elsewhere": 1.0}
	if !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "user.travel.log cannot be read") {
		t.Errorf("warnings = %q", o.Warnings)
	}
	if !slices.ContainsFunc(o.Trace, func(e report.Trace) bool { return e.Name == "user.travel.log" && e.Result == "denied" }) {
		t.Errorf("trace = %+v; want an entry for the denied fact", o.Trace)
	}
}

// TestInjectedBounds checks the limits on the facts that recalls load into a session.
func TestInjectedBounds(t *testing.T) {
	set := compile(t, nil, "AGENT: A\nMEMORY:\n  recall:\n    - ON: session:start\n      ACTION: load_memory\n      DOMAIN: \"d\"\n")
	e := agenttest.New()
	for i := range agent.MaxInjected + 5 {
		e.SetStored(fmt.Sprintf("user.d.x%04d", i), 1.0, 0, "")
	}
	if o := begin(t, e, set); len(o.Injected) != agent.MaxInjected || len(o.Warnings) != 5 {
		t.Errorf("%d facts are injected with %d warnings", len(o.Injected), len(o.Warnings))
	}
	e = agenttest.New()
	for i := range 3 {
		e.SetStored(fmt.Sprintf("user.d.x%d", i), strings.Repeat("x", agent.MaxInjectedBytes/2), 0, "")
	}
	if o := begin(t, e, set); len(o.Injected) != 1 || len(o.Warnings) != 2 {
		t.Errorf("%d large facts are injected with %d warnings", len(o.Injected), len(o.Warnings))
	}
}

// TestConstraintsStopAtTheFirstError checks several constraints. After a warning, the next
// constraint must be evaluated. After an error, no further constraint may be evaluated.
func TestConstraintsStopAtTheFirstError(t *testing.T) {
	o := first(t, ruled(`- WARN a > 0
  ON_FAIL: "one {{b}}"
- REQUIRE b > 0
  ON_FAIL: "two"
- WARN a > 1
  ON_FAIL: BLOCK
- REQUIRE a > 2
  ON_FAIL: "four"
- REQUIRE a > 3
  ON_FAIL: "five"
`, "a = 0", "b = 1"))
	wantMessages(t, o, "four")
	if want := []string{"a.abl:8:7: one 1", "a.abl:12:7: WARN a > 1 failed"}; !slices.Equal(o.Warnings, want) {
		t.Errorf("warnings = %q; want %q", o.Warnings, want)
	}
	var results []string
	for _, entry := range o.Trace {
		if entry.Kind == "constraint" {
			results = append(results, entry.Position+" "+entry.Result)
		}
	}
	if want := []string{"a.abl:8 failed", "a.abl:10 passed", "a.abl:12 failed", "a.abl:14 failed"}; !slices.Equal(results, want) {
		t.Errorf("trace = %q; want %q", results, want)
	}
}

// TestUnknownBefore checks that a constraint has no effect if its BEFORE names a checkpoint that
// does not exist.
func TestUnknownBefore(t *testing.T) {
	wantPassed(t, true, "", ruled("- REQUIRE a == 1 BEFORE sending money\n  ON_FAIL: \"no\"\n"))
}

func TestImplies(t *testing.T) {
	block := "- REQUIRE kind == \"international\" IMPLIES code IS SET\n  ON_FAIL: \"no\"\n"
	wantPassed(t, true, "no", ruled(block, `kind = "domestic"`))
	wantPassed(t, false, "no", ruled(block, `kind = "international"`))
	wantPassed(t, true, "no", ruled(block, `kind = "international"`, `code = "X"`))
	wantPassed(t, false, "no", ruled(block)) // unknown
}

// TestRetryIsBounded checks that RETRY runs a step again, and that the number of retries is
// limited.
func TestRetryIsBounded(t *testing.T) {
	source := `AGENT: Sample
MEMORY:
  session:
    - n
      INITIAL: 0
CONSTRAINTS:
  always:
    - REQUIRE n > %d BEFORE calling t
      ON_FAIL:
        RESPOND: "again"
        RETRY: true
FLOW:
  go:
    REASONING: false
    SET: n = n + 1
    CALL: t()
    RESPOND: "ok"
    THEN: COMPLETE
`
	e := agenttest.New()
	e.Tools["t"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
	o := say(t, e, compile(t, []agent.Tool{{Name: "t"}}, fmt.Sprintf(source, 2)), "hello")
	wantMessages(t, o, "again", "again", "ok")
	e.SessionID = "s2"
	o = say(t, e, compile(t, []agent.Tool{{Name: "t"}}, fmt.Sprintf(source, 50)), "hello")
	wantMessages(t, o, "again", "again", "again", "again")
	wantVariables(t, o, map[string]any{"n": 1.0 + agent.MaxRetries})
	if !o.Blocked || o.Done || deref(o.Step) != "go" {
		t.Errorf("blocked = %v, done = %v, step = %s", o.Blocked, o.Done, deref(o.Step))
	}
}

// TestContinueAfterCollect checks that a constraint with "THEN: continue" is not checked again
// after its COLLECT.
func TestContinueAfterCollect(t *testing.T) {
	for then, last := range map[string]turn{
		"continue": {say: "no", want: []string{"ok"}, done: true},
		"retry":    {say: "no", want: []string{"Agree?"}, step: "go", field: "agreed", blocked: true},
	} {
		block := "- REQUIRE agreed == \"yes\"\n  ON_FAIL:\n    RESPOND: \"Agree?\"\n    COLLECT: [agreed]\n    THEN: " + then + "\n"
		converse(t, agenttest.New(), compile(t, nil, ruled(block)), turn{say: "hello", want: []string{"Agree?"}, step: "go", field: "agreed", blocked: true}, last)
	}
}

const vault = `AGENT: Vault
MEMORY:
  session:
    - pin
      SENSITIVE: true
    - owner
      SENSITIVE: true
      SENSITIVE_DISPLAY: replace
  persistent:
    - user.card
      SENSITIVE: true
      SENSITIVE_DISPLAY: mask
  remember:
    - WHEN: owner IS SET
      STORE: owner -> user.owner
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.card]
CONSTRAINTS:
  always:
    - WARN pin == "x"
      ON_FAIL: "The pin {{pin}} of {{owner.name}} is weak."
    - REQUIRE pin != "000000" BEFORE calling charge
      ON_FAIL: "Not with {{pin}}."
FLOW:
  start:
    REASONING: false
    SET:
      - pin = input
      - copy = pin
      - owner = {name: "Annabelle"}
    RESPOND: "{{pin}} {{owner.name}} {{user.card}} {{#if pin == \"123456\"}}right{{else}}wrong{{/if}}"
    CALL: charge(pin, card: user.card)
    ON_FAIL:
      RESPOND: "It failed."
    THEN: COMPLETE
`

// TestSensitiveValuesDoNotLeak checks that an outcome contains no sensitive value. The only
// exception is a value that the agent also stores under a name that is not sensitive. The agent
// itself must compute with the real values.
func TestSensitiveValuesDoNotLeak(t *testing.T) {
	e := agenttest.New()
	e.SetStored("user.card", "4111111111111234", 0, "")
	var input map[string]any
	e.Tools["charge"] = func(_ context.Context, _ *agenttest.Env, in map[string]any) (any, error) {
		input = in
		return nil, errors.New("refused 123456 and 4111111111111234 of Annabelle")
	}
	set := compile(t, []agent.Tool{{Name: "charge"}}, vault)
	o := say(t, e, set, "123456")
	if want := map[string]any{"pin": "123456", "card": "4111111111111234"}; !reflect.DeepEqual(input, want) {
		t.Errorf("the tool gets %v; want %v", input, want)
	}
	if len(o.Messages) < 1 || o.Messages[0] != "[REDACTED] [OWNER] ************1234 right" {
		t.Errorf("messages = %q", o.Messages)
	}
	delete(o.Variables, "copy") // not declared as sensitive
	o.Messages = nil
	content, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"123456", "4111111111111234", "Annabelle"} {
		if i := strings.Index(string(content), secret); i >= 0 {
			t.Errorf("the outcome contains %s: %s", secret, content[max(0, i-200):min(len(content), i+100)])
		}
	}
	if o.Variables["pin"] != "[REDACTED]" || o.Variables["owner"] != "[OWNER]" || o.Injected["user.card"] != "************1234" {
		t.Errorf("variables = %v, injected = %v", o.Variables, o.Injected)
	}
	if state, _ := e.State(context.Background(), "Vault"); state.Variables["pin"] != "123456" {
		t.Errorf("the stored state has %v", state.Variables)
	}
}

// TestSensitiveValuesOfFaults checks that the fault of a turn does not contain a sensitive value.
func TestSensitiveValuesOfFaults(t *testing.T) {
	e := agenttest.New()
	e.Tools["charge"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) {
		return nil, errors.New("refused 123456")
	}
	set := compile(t, []agent.Tool{{Name: "charge"}}, strings.Replace(vault, "    ON_FAIL:\n      RESPOND: \"It failed.\"\n", "", 1))
	_, err := e.Say(context.Background(), set, "123456")
	if err == nil || strings.Contains(err.Error(), "123456") || !errors.Is(err, abi.ToolError) {
		t.Errorf("error = %v; want tool_error without the value", err)
	}
}

// TestTraceIsBounded checks that the size of a trace is limited, even if the trace has large values
// or many entries.
func TestTraceIsBounded(t *testing.T) {
	var sets strings.Builder
	for range 900 {
		sets.WriteString("      - x = large\n")
	}
	set := compile(t, nil, "AGENT: A\nFLOW:\n  a:\n    REASONING: false\n    SET:\n      - large = REPEAT(\"ä\\\"\", 2000)\n"+sets.String()+"    THEN: b\n  b:\n    REASONING: false\n    SET:\n"+strings.ReplaceAll(sets.String(), "x", "y")+"    THEN: COMPLETE\n")
	o := say(t, agenttest.New(), set, "hello")
	size := 0
	for _, entry := range o.Trace {
		size += len(entry.Value)
		if len(entry.Value) > agent.MaxTraceValueBytes || len(entry.Value) > 0 && !json.Valid(entry.Value) {
			t.Fatalf("value = %s", entry.Value)
		}
	}
	if len(o.Trace) != agent.MaxTrace || size > 300<<10 {
		t.Errorf("the trace has %d entries and %d bytes", len(o.Trace), size)
	}
}

// TestTimesToLive checks the units of time that TTL accepts.
func TestTimesToLive(t *testing.T) {
	for ttl, want := range map[string]time.Duration{"30s": 30 * time.Second, "5m": 5 * time.Minute, "24h": 24 * time.Hour, "90d": 90 * 24 * time.Hour} {
		e := agenttest.New()
		say(t, e, compile(t, nil, "AGENT: A\nMEMORY:\n  remember:\n    - WHEN: last IS SET\n      STORE: last -> user.last\n      TTL: \""+ttl+"\"\n"+takes("last")), "a")
		if got := e.Expires("user.last").Sub(e.Clock); got != want {
			t.Errorf("TTL %s ends after %v", ttl, got)
		}
		e.Clock = e.Clock.Add(want - time.Millisecond)
		if _, ok := e.Stored("user.last"); !ok {
			t.Errorf("TTL %s ends too soon", ttl)
		}
		e.Clock = e.Clock.Add(time.Millisecond)
		if _, ok := e.Stored("user.last"); ok {
			t.Errorf("TTL %s does not end", ttl)
		}
	}
}

// TestLoadMemoryOfPaths checks that the action "load_memory" can also load paths.
func TestLoadMemoryOfPaths(t *testing.T) {
	e := agenttest.New()
	e.SetStored("user.name", "Ann", 0, "")
	e.SetStored("user.travel.seat", "aisle", 0, "")
	o := begin(t, e, compile(t, nil, "AGENT: A\nMEMORY:\n  recall:\n    - ON: session:start\n      ACTION: load_memory\n      PATHS: [user.name, user.city]\n      DOMAIN: \"travel\"\n"))
	if want := map[string]any{"user.name": "Ann", "user.city": nil, "user.travel.seat": "aisle"}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
}

// TestUndefinedIsNull evaluates SET with a name that has no value. SET must assign null.
func TestUndefinedIsNull(t *testing.T) {
	o := first(t, "AGENT: Sample\nFLOW:\n  go:\n    REASONING: false\n    SET: x = unknown.name\n    RESPOND: \"<{{x}}>\"\n    THEN: COMPLETE\n")
	wantVariables(t, o, map[string]any{"x": nil})
	wantMessages(t, o, "<>")
}

// TestClearedFieldIsAskedAgain clears a field of a step. The step must not ask for the field again
// until the step runs again.
func TestClearedFieldIsAskedAgain(t *testing.T) {
	converse(t, agenttest.New(), compile(t, nil, `AGENT: A
FLOW:
  ask:
    REASONING: false
    GATHER:
      - city: required
    THEN: next
  next:
    REASONING: false
    CLEAR: [city]
    RESPOND: "<{{city}}>"
    ON_INPUT:
      - IF: input == "back"
        THEN: ask
`),
		turn{say: "hello", want: []string{"Please enter the city."}, step: "ask", field: "city"},
		turn{say: "Bern", want: []string{"<>"}, step: "next"},
		turn{say: "other", want: []string{"<>"}, step: "next"},
		turn{say: "back", want: []string{"Please enter the city."}, step: "ask", field: "city"},
	)
}

// TestConstraintsSeeTheInput checks a constraint on a call. The constraint must apply to the input
// of the call and to the variables. This must hold for calls from a flow and for calls from a
// model.
func TestConstraintsSeeTheInput(t *testing.T) {
	for _, tt := range []struct {
		variable, input string
		message         string
	}{
		{"5", "nights", "ok"},
		{"5", "30", "ok"},
		{"5", "40", "At most 30 nights, not 40."},
		{"40", "5", "At most 30 nights, not 40."},
		{"40", "nights", "At most 30 nights, not 40."},
	} {
		e := agenttest.New()
		e.Tools["book"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
		set := compile(t, []agent.Tool{{Name: "book"}}, "AGENT: A\n"+starting("nights = "+tt.variable)+`CONSTRAINTS:
  always:
    - WARN nights < 1 BEFORE calling book
      ON_FAIL: "more than one"
    - REQUIRE nights <= 30 BEFORE calling book
      ON_FAIL: "At most 30 nights, not {{nights}}."
FLOW:
  go:
    REASONING: false
    CALL: book(nights: `+tt.input+`)
    RESPOND: "ok"
    THEN: COMPLETE
`)
		o := say(t, e, set, "hello")
		wantMessages(t, o, tt.message)
		if (len(e.Calls) == 1) != (tt.message == "ok") || len(o.Warnings) != 1 {
			t.Errorf("%+v: calls = %v, warnings = %q", tt, e.Calls, o.Warnings)
		}
	}
	e, set := wire(t)
	e.Model = script(t, calls("set_variables", `{"amount": 5}`), calls("pay", `{"amount": 1000000, "limit": 5}`))
	o := say(t, e, set, "send a lot")
	wantMessages(t, o, "At most 100, not 1000000.")
	if len(e.Calls) != 0 || !o.Blocked {
		t.Errorf("the model evades the constraint: %v", e.Calls)
	}
}
