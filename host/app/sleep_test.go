package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

const sleepTools = "tools:\n  dream: {source: dream.js, description: d}\n"

// TestSleep checks that Load reads the section "sleep", and that Export writes it.
func TestSleep(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       *declare.Sleep
	}{
		{"none", "", nil},
		{"tool", "sleep: {tool: dream}", &declare.Sleep{After: 5 * time.Minute, Tool: "dream"}},
		{"model", "sleep: {model: local, after: 30s, user_core: true}", &declare.Sleep{After: 30 * time.Second, Model: "local", UserCore: true}},
	} {
		a, problems := app.Load(files("app.yaml", "app: a\nblocks: true\n"+test.text+"\n"+sleepTools, "dream.js", ""), "app.yaml")
		if a == nil {
			t.Fatalf("%s: %v", test.name, problems)
		}
		if diff := cmp.Diff(test.want, a.Sleep); diff != "" {
			t.Errorf("%s: sleep differs (-want +got):\n%s", test.name, diff)
		}
		text, err := app.Export(a)
		if err != nil {
			t.Fatal(err)
		}
		again, problems := app.Import("app.json", text)
		if again == nil {
			t.Fatalf("%s: %v", test.name, problems)
		}
		if diff := cmp.Diff(test.want, again.Sleep); diff != "" {
			t.Errorf("%s: sleep of the export differs (-want +got):\n%s", test.name, diff)
		}
		if _, found := again.Store(declare.Transcripts); found {
			t.Errorf("%s: App.Store returned the store of transcripts; want only declared stores", test.name)
		}
	}
}

// TestSleepMistakes reads sections with mistakes. Each mistake must be reported with a position and
// a hint.
func TestSleepMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want, hint string }{
		{"no source", "blocks: true\nsleep: {after: 1m}", "the section `sleep` names neither a tool nor a model", "add `tool: NAME`"},
		{"two sources", "blocks: true\nsleep: {tool: dream, model: local}", "the section `sleep` names both a tool and a model", "remove the key `tool` or the key `model`"},
		{"no blocks", "sleep: {tool: dream}", "the section `sleep` requires blocks", "add blocks: true"},
		{"misspelled tool", "blocks: true\nsleep: {tool: draem}", "the section `sleep` uses the tool \"draem\"", `did you mean`},
		{"bad model", "blocks: true\nsleep: {model: 'a b'}", `"a b" is not a valid name of a model`, "use a letter"},
		{"too short", "blocks: true\nsleep: {tool: dream, after: 1ms}", "after", ""},
		{"too long", "blocks: true\nsleep: {tool: dream, after: 25h}", "after is 25h; want a value between 1s and 1d", ""},
		{"unknown key", "blocks: true\nsleep: {tool: dream, afer: 1m}", `sleep has no key "afer"`, "after"},
		{"a reserved store", "memory: {Transcripts: {access: user}}", "reserved for the transcripts", ""},
	} {
		_, problems := app.Load(files("app.yaml", "app: a\n"+test.text+"\n"+sleepTools, "dream.js", ""), "app.yaml")
		found := false
		for _, p := range problems {
			found = found || p.Severity == problem.Error && p.Line > 0 && strings.Contains(p.Message, test.want) && strings.Contains(p.Hint, test.hint)
		}
		if !found {
			t.Errorf("%s: the problems are %v; want %q with the hint %q", test.name, problems, test.want, test.hint)
		}
	}
}

// If the operator has not configured a model, using the model causes a warning.
// TestSleepUnknownModel checks that this warning has the position of the model's name.
func TestSleepUnknownModel(t *testing.T) {
	a, problems := app.Load(files("app.yaml", "app: a\nblocks: true\nsleep:\n  model: local\n"), "app.yaml")
	if a == nil {
		t.Fatal(problems)
	}
	found := a.UnknownModels(func(string) bool { return false })
	if len(found) != 1 || found[0].File != "app.yaml" || found[0].Line != 4 || found[0].Severity != problem.Warning || !strings.Contains(found[0].Message, `sleep uses the model "local"`) {
		t.Errorf("the problems are %v; want one warning in line 4", found)
	}
	if found := a.UnknownModels(func(string) bool { return true }); len(found) != 0 {
		t.Errorf("the problems of a known model are %v; want none", found)
	}
}
