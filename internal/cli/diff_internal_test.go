package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toolrun/toolrun/host/report"
)

func TestShowChanges(t *testing.T) {
	tests := []struct {
		name, before, after, want string
	}{
		{"created", `null`, `{"a":1,"b":{"c":[]}}`, "would create s:\n  + /a: 1\n  + /b: {\"c\":[]}\n"},
		{"created empty", `null`, `{}`, "would create s:\n  + {}\n"},
		{"created from no bytes", ``, `"text"`, "would create s:\n  + \"text\"\n"},
		{"deleted", `{"a":1}`, `null`, "would delete s:\n  - {\"a\":1}\n"},
		{"the same", `{"a":[1]}`, `{"a":[1]}`, "would store s again, unchanged\n"},
		{"a member", `{"a":1,"b":2}`, `{"b":3,"c":4}`, "would change s:\n  - /a: 1\n  - /b: 2\n  + /b: 3\n  + /c: 4\n"},
		{"null is a value", `{"a":null}`, `{"b":null}`, "would change s:\n  - /a: null\n  + /b: null\n"},
		{"deeply", `{"a":{"b":{"c":1,"d":1}}}`, `{"a":{"b":{"c":2,"d":1}}}`, "would change s:\n  - /a/b/c: 1\n  + /a/b/c: 2\n"},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, "would change s:\n  - /a: {\"b\":1}\n  + /a: [1]\n"},
		{"names that are escaped", `{"a/b~c":1}`, `{"a/b~c":2}`, "would change s:\n  - /a~1b~0c: 1\n  + /a~1b~0c: 2\n"},
		{"an added item", `{"a":[1,2]}`, `{"a":[1,2,3]}`, "would change s:\n  + /a/2: 3\n"},
		{"a removed item", `{"a":[1,2,3]}`, `{"a":[2,3]}`, "would change s:\n  - /a/0: 1\n"},
		{"an inserted item", `{"a":[1,1]}`, `{"a":[1,2,1]}`, "would change s:\n  + /a/1: 2\n"},
		{"one of two equal items", `{"a":[1,1]}`, `{"a":[1]}`, "would change s:\n  - /a/1: 1\n"},
		{"a change inside an item", `{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`, "would change s:\n  - /a/1/b: 2\n  + /a/1/b: 3\n"},
		{"control characters", `{"a":"x"}`, "{\"a\":\"\u009b31m\"}", "would change s:\n  - /a: \"x\"\n  + /a: \"\ufffd31m\"\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			out := &console{env: Env{Stdout: &stdout}.withDefaults()}
			err := showChanges(out, []report.Change{{Store: "s", Before: json.RawMessage(test.before), After: json.RawMessage(test.after)}})
			if err != nil || stdout.String() != test.want {
				t.Errorf("showChanges = %v and wrote\n%swant\n%s", err, stdout.String(), test.want)
			}
		})
	}
}

func TestChangesAreColouredForATerminal(t *testing.T) {
	change := []report.Change{{Store: "s", Before: json.RawMessage(`{"a":1}`), After: json.RawMessage(`{"a":2}`)}}
	for terminal, want := range map[bool]string{
		true:  "would change s:\n\x1b[1;31m  - /a: 1\x1b[0m\n\x1b[32m  + /a: 2\x1b[0m\n",
		false: "would change s:\n  - /a: 1\n  + /a: 2\n",
	} {
		var stdout bytes.Buffer
		out := &console{env: Env{Stdout: &stdout, StdoutTerminal: terminal}.withDefaults()}
		if err := showChanges(out, change); err != nil || stdout.String() != want {
			t.Errorf("showChanges on a terminal %t = %v and wrote %q; want %q", terminal, err, stdout.String(), want)
		}
	}
}

// TestChangesNameItems shows changes in a store with several records. The output must contain the
// item of each record and no control characters.
func TestChangesNameItems(t *testing.T) {
	var stdout bytes.Buffer
	out := &console{env: Env{Stdout: &stdout}.withDefaults()}
	change := report.Change{Store: "visits", Item: "front\x1b[31m", Before: json.RawMessage(`null`), After: json.RawMessage(`{"count":1}`)}
	want := "would create visits \"front\\x1b[31m\":\n  + /count: 1\n"
	if err := showChanges(out, []report.Change{change}); err != nil || stdout.String() != want {
		t.Errorf("showChanges = %v and wrote %q; want %q", err, stdout.String(), want)
	}
}
