package abl_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
)

// TestMistakes compares the problems of the files in testdata/mistakes.txt with a golden file.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, section := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		name, source, _ := strings.Cut(section, "\n")
		_, problems := abl.Parse("a.abl", []byte(source))
		if len(problems) == 0 {
			t.Errorf("%s: there are no problems; want at least one", name)
		}
		fmt.Fprintf(&b, "=== %s\n", name)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Code == "" || p.Severity == "" {
				t.Errorf("%s: the problem has no position, code or severity: %+v", name, p)
			}
			fmt.Fprintf(&b, "%s [%s]\n", p, p.Code)
		}
	}
	compareGolden(t, "mistakes.golden", b.String())
}

func TestBounds_files(t *testing.T) {
	many := "AGENT: A\nMEMORY:\n  session:\n" + strings.Repeat("    - x\n", 1001)
	deep := "AGENT: A\n"
	for i := range 40 {
		deep += strings.Repeat("  ", i) + "x:\n"
	}
	for _, tt := range []struct{ name, source, want string }{
		{"large", strings.Repeat("#", 1<<20+1), "the file is larger than 1048576 bytes"},
		{"deep", deep, "lines are nested deeper than 32 levels"},
		{"many", many, "session has more than 1000 items"},
		{"binary", "AGENT: \xff", "the file is not text in UTF-8"},
	} {
		_, problems := abl.Parse("a.abl", []byte(tt.source))
		if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.300v; want %s", tt.name, err, tt.want)
		}
	}
}

const completeAgent = `# A hotel agent.
AGENT: Booking_Agent
GOAL: "Help users book hotels"
strict_types: true

TOOLS:
  - search_hotels
  - save_booking(guest: string) -> object
HANDOFF:
  - TO: Compliance
    WHEN: amount > 1000
  - Support

MEMORY:
  session:
    - hotels
    - pin
      TYPE: string
      SENSITIVE: true
      SENSITIVE_DISPLAY: mask
      MASK_CONFIG:
        showFirst: 1
        showLast: 2
        char: "#"
  persistent:
  - user.travel.seat   # a list at the indentation of its key
  - workflow.case
    SCOPE: execution_tree
    DEFAULT_VALUE: {a: [1, -2]}
  READS: [project.rates]
  WRITES:
    - user.log
  remember:
    - WHEN: hotels
      STORE:
        value: hotels
        target: user.searches
        operation: append
        unique: true
        maxSize: 10
      TTL: 30m
  recall:
    - ON: step:enter:search
      ACTION: inject_context
      PATHS: [
        user.travel.seat,  # first
        project.rates
      ]

CONSTRAINTS:
  - WARN amount < 10 BEFORE calling save_booking
    ON_FAIL: "large"
  - REQUIRE pin IS SET
    ON_FAIL:
      HANDOFF: Support
      RETRY: true

ON_START:
  SET:
    started = NOW()
    count: 0
  RESPOND: |
    Welcome!

      Indented.
HOOKS:
  before_turn:
    critical: true
    SET: turn = now

FLOW:
  entry_point: search
  search:
    REASONING: false
    WHEN: NOT done
    CALL: search_hotels(city, limit: 2 + 3)
      AS: hotels
    ON_FAIL: "The search failed."
    MAX_ATTEMPTS: 3
    ON_EXHAUSTED: end
    THEN: book
  book:
    REASONING: false
    GATHER:
      FIELDS:
        - guest: optional
          prompt: "Who, {{user.travel.seat}}?"
          type: string
          default: "me"
      MODEL: small
    CALL: save_booking
      WITH:
        guest: guest
        options:
          breakfast: true
    ON_FAIL:
      RESPOND: "No."
      THEN: HANDOFF Support
    DIGRESSION:
      - INTENT: "weather"
        RESPOND: "Sunny."
        RESUME: true
    THEN: end
  end:
    REASONING: true
    GOAL: "Say goodbye"
    AVAILABLE_TOOLS: [search_hotels]
    EXIT_WHEN: done
    MAX_TURNS: 2
    MODEL: "small"
    THEN: ESCALATE
`

// TestCompleteAgent parses a file that contains every property of the language. TestCompleteAgent
// compares the parsed document with a golden file.
func TestCompleteAgent(t *testing.T) {
	d, problems := abl.Parse("a.abl", []byte(completeAgent))
	if len(problems) > 0 {
		t.Errorf("the problems are\n%v", problems)
	}
	compareGolden(t, "complete.golden", dump(d))
	got := abl.CheckTools(d, []string{"search_hotels", "save_bookings"})
	want := "a.abl:8:5: the tool save_booking is not declared\n  hint: declare the tool in the app\n" +
		"a.abl:51:37: the tool save_booking is not declared\n  hint: did you mean save_bookings?\n" +
		"a.abl:91:11: the tool save_booking is not declared\n  hint: did you mean save_bookings?"
	if got.Error() != want {
		t.Errorf("CheckTools reports\n%v\nwant\n%s", got, want)
	}
}

func TestCheckAll(t *testing.T) {
	read := func(file, source string) *abl.Document {
		d, problems := abl.Parse(file, []byte(source))
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	handsOver := func(name, to string) string {
		return "AGENT: " + name + "\nFLOW:\n  one:\n    REASONING: false\n    SET: x = 1\n    THEN: two\n  two:\n    REASONING: false\n    THEN: HANDOFF " + to + "\n"
	}
	waits := "AGENT: W\nFLOW:\n  one:\n    REASONING: false\n    GATHER: [x]\n    THEN: HANDOFF A\n"
	fact := func(name, property string) string {
		return "AGENT: " + name + "\nMEMORY:\n  persistent:\n    - user.x\n      " + property + "\n"
	}
	for _, tt := range []struct {
		name string
		docs []*abl.Document
		want string
	}{
		{"fine", []*abl.Document{read("a", handsOver("A", "W")), read("w", waits)}, ""},
		{"circle", []*abl.Document{read("a", handsOver("A", "B")), read("b", handsOver("B", "A"))},
			"b:9:19: the agents A -> B -> A hand over in a circle without waiting for input\n  hint: wait with GATHER or ON_INPUT before the handoff, or end with `THEN: COMPLETE`"},
		{"itself", []*abl.Document{read("a", handsOver("A", "A"))},
			"a:9:19: the agents A -> A hand over in a circle without waiting for input\n  hint: wait with GATHER or ON_INPUT before the handoff, or end with `THEN: COMPLETE`"},
		{"unknown", []*abl.Document{read("a", handsOver("A", "B"))},
			"a:9:19: unknown agent B\n  hint: declare the agent in a file of the app"},
		{"duplicate", []*abl.Document{read("w", waits), read("w2", waits), read("a", handsOver("A", "W"))},
			"w2:1:8: the agent W is already declared in w\n  hint: rename one of the two agents"},
		{"scopes", []*abl.Document{read("a", fact("A", "SCOPE: user")), read("b", fact("B", "SCOPE: project"))},
			"b:4:7: the path user.x has the scope project here, but the scope user in a:4\n  hint: use one scope"},
		{"types", []*abl.Document{read("a", fact("A", "TYPE: string")), read("b", fact("B", "TYPE: date"))},
			"b:4:7: warning: the path user.x has the type date here, but the type string in a:4\n  hint: use one type"},
	} {
		if got := abl.CheckAll(tt.docs).Error(); got != tt.want {
			t.Errorf("%s: CheckAll reports\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// FuzzParse checks that parsing and formatting never panic. FuzzParse also checks that the
// positions of all problems are inside the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(completeAgent))
	for _, section := range []string{"AGENT: A\n\tx", "- REQUIRE x BEFORE calling y\n  ON_FAIL: BLOCK", "SET: a = 'x'\nRESPOND: |\n  {{a}}"} {
		f.Add([]byte(section))
	}
	if text, err := os.ReadFile("testdata/mistakes.txt"); err == nil {
		for _, section := range strings.Split(string(text), "\n=== ") {
			f.Add([]byte(section))
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		lines := strings.Count(string(source), "\n") + 1
		for _, parse := range []func(string, []byte) (*abl.Document, problem.List){abl.Parse, abl.ParseFragment} {
			d, problems := parse("a.abl", source)
			dumpSafe(d, problems)
			for _, p := range problems {
				if p.Line > lines+1 || p.Line > 0 && p.Column < 1 {
					t.Fatalf("a problem in a file of %d lines has the position %d:%d, outside of the file: %s", lines, p.Line, p.Column, p.Message)
				}
			}
			abl.CheckAll([]*abl.Document{d, d})
		}
	})
}

// dumpSafe visits all parts of a document that has no errors.
func dumpSafe(d *abl.Document, problems problem.List) {
	if problems.Err() == nil {
		dump(d)
	}
}

// TestOutcomeOwner checks that ON_FAIL belongs to the last call or check that precedes ON_FAIL.
func TestOutcomeOwner(t *testing.T) {
	d, problems := abl.ParseFragment("a.abl", []byte("CHECK: x\nCALL: y\nON_FAIL: z\nTHEN: w\n"))
	if len(problems) > 0 || d.Body == nil || len(d.Body.Actions) != 2 {
		t.Fatalf("the part is %+v, %v", d.Body, problems)
	}
	if check, call := d.Body.Actions[0], d.Body.Actions[1]; check.OnFail != nil || call.OnFail == nil || call.OnFail.Then.Value != "z" {
		t.Errorf("ON_FAIL belongs to the check: %+v; want it at the call", d.Body.Actions)
	}
}

// TestLoopThatWaits checks that no problem is reported for a loop of steps if one of the steps
// waits for input.
func TestLoopThatWaits(t *testing.T) {
	loop := "AGENT: A\nFLOW:\n  a:\n    REASONING: false\n%s    THEN: b\n  b:\n    REASONING: false\n    SET: x = 1\n    THEN: a\n"
	for _, waiting := range []string{"    GATHER: [y]\n", "    ON_INPUT:\n      - ELSE:\n        SET: y = 1\n"} {
		if _, problems := abl.Parse("a.abl", fmt.Appendf(nil, loop, waiting)); len(problems) > 0 {
			t.Errorf("the problems of a loop with %q are\n%v\nwant none", waiting, problems)
		}
	}
	if _, problems := abl.Parse("a.abl", fmt.Appendf(nil, loop, "")); problems.Err() == nil {
		t.Error("a loop that never waits has no problems; want an error")
	}
}
