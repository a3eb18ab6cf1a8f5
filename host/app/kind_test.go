package app_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
)

const countersApp = `
app: shop
memory:
  visits: {kind: counter, access: user}
  prefs: {kind: document, access: user}
  flags: {access: application}
tools:
  count: {source: count.js, description: Counts, grants: {visits: readwrite, prefs: read, flags: read}}
`

// TestKinds checks that a store can have only a kind that the host supports. TestKinds also checks
// that an export preserves the kind.
func TestKinds(t *testing.T) {
	loader := app.Loader{Kinds: []declare.Kind{declare.KindDocument, "counter"}}
	loaded, problems := loader.Load(files("app.yaml", countersApp, "count.js", ""), "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	text, err := app.Export(loaded)
	if err != nil {
		t.Fatal(err)
	}
	imported, problems := loader.Import("app.json", text)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*app.App{loaded, imported} {
		for name, want := range map[string]declare.Kind{"visits": "counter", "prefs": declare.KindDocument, "flags": declare.KindDocument} {
			if st, _ := a.Store(name); st.Kind != want {
				t.Errorf("the kind of %s is %q; want %q", name, st.Kind, want)
			}
		}
	}
}

func TestUnknownKinds(t *testing.T) {
	counters := app.Loader{Kinds: []declare.Kind{declare.KindDocument, "counter"}}
	for _, tt := range []struct {
		name          string
		loader        app.Loader
		store         string
		message, hint string
	}{
		{"an unsupported kind", app.Loader{}, `{kind: counter, access: user}`, `the value "counter" is not a kind of store`, `use one of: document, collection`},
		{"a slip", counters, `{kind: countr, access: user}`, `the value "countr" is not a kind of store`, `did you mean "counter"?`},
		{"a reserved kind", counters, `{kind: block, access: user}`, "a store in the section `memory` cannot be of kind block", "declare the block in the section `blocks` of the app file"},
		{"a resource", counters, `{kind: counter, access: user, expose: resource}`, `only documents and collections can be exposed`, `remove expose`},
	} {
		_, problems := tt.loader.Load(files("app.yaml", "app: shop\nmemory:\n  visits: "+tt.store+"\n"), "app.yaml")
		if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.message) || problems[0].Hint != tt.hint {
			t.Errorf("%s: problems = %v; want %s, with the hint %s", tt.name, problems, tt.message, tt.hint)
		}
	}
}
