package template_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/template"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// FuzzTemplate checks that an error of Parse has a position inside the text. A text without errors
// must be rendered within the size limit and read only the stores in Refs. The paths in Refs must
// be sufficient to render the text. An escaped text must be rendered unchanged.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		``, `Hello {{memory.sessionMeta.metadata.userName}}!`, "a\n{{ memory.b[0].c[\"d }}\"] }} \\{{ \\\\{{memory.b}}",
		`${{memory.a}}}`, `{{{memory.a}}}`, `{{memory.a["\u0061\"]}}"]}}`, `{{#each a}}`, `{{`, "\xff", `\`, `{{memory.a.`, `{{memory.a["\`,
		`{{memory.a.b}}{{memory.a.b.c}}{{memory.a.b["x.y"]}}{{memory.a.d.0.e}}`,
	} {
		f.Add(seed, `{"a":["{{memory.x}}"]}`)
	}
	f.Add(`{{memory.a.b}}{{memory.a.b.c}}{{memory.a.d.0.e}}`, `{"b":{"c":1.0},"d":[{"e":"\\{{"}],"f":null}`)
	f.Fuzz(func(t *testing.T, text, content string) {
		checkEscaped(t, text)
		tmpl, err := template.Parse(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		const maximum = 10_000
		var requested, named []string
		get := func(name string) (json.RawMessage, error) {
			requested = append(requested, name)
			return json.RawMessage(content), nil
		}
		got, _, err := tmpl.WithMaxBytes(maximum).RenderFrom(template.Source{Store: get, Fact: get})
		if err != nil {
			if strictjson.Check([]byte(content), strictjson.Limits{}) == nil && !errors.Is(err, abi.OutputLimit) {
				t.Fatalf("Render = %v", err)
			}
			return
		}
		for _, ref := range tmpl.Refs(nil) {
			named = append(named, ref.Store+ref.Fact)
		}
		if !slices.Equal(requested, named) {
			t.Fatalf("Render read %q; Refs names %q", requested, named)
		}
		if len(got) > maximum || !utf8.ValidString(got) {
			t.Fatalf("Render returned %d bytes, valid UTF-8 %v", len(got), utf8.ValidString(got))
		}
		if projected := renderProjected(t, tmpl, content); projected != got {
			t.Fatalf("Render with only the fields in Refs = %q; want %q", projected, got)
		}
	})
}

// renderProjected renders a template with only the content at the paths in Refs.
func renderProjected(t *testing.T, tmpl *template.Template, content string) string {
	paths := map[string][]string{}
	for _, ref := range tmpl.Refs(nil) {
		paths[ref.Store] = ref.Paths
	}
	store := func(store string) (json.RawMessage, error) {
		if content == "" || paths[store] == nil {
			return json.RawMessage(content), nil
		}
		tree, err := strictjson.Decode([]byte(content), strictjson.Limits{})
		if err != nil {
			return nil, err
		}
		return strictjson.Encode(project(tree, "", paths[store]))
	}
	fact := func(string) (json.RawMessage, error) { return json.RawMessage(content), nil }
	got, _, err := tmpl.RenderFrom(template.Source{Store: store, Fact: fact})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// project removes a value if no path in the argument "paths" leads to the value. If a path leads to
// an array, the path applies to each element of the array. The argument "at" is the path of value.
func project(value any, at string, paths []string) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			path := strings.TrimPrefix(at+"."+name, ".")
			if slices.Contains(paths, path) {
				kept[name] = member
			} else if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, path+".") }) {
				kept[name] = project(member, path, paths)
			}
		}
		return kept
	case []any:
		kept := []any{}
		for _, element := range v {
			kept = append(kept, project(element, at, paths))
		}
		return kept
	}
	return nil
}

// checkEscaped escapes text as the package documents. The escaped text must be rendered as the
// original text, and must not read any store.
func checkEscaped(t *testing.T, text string) {
	if !utf8.ValidString(text) {
		return
	}
	var escaped strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{{")
		escaped.WriteString(before)
		if !found {
			break
		}
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		escaped.WriteString(strings.Repeat(`\`, slashes) + `\{{`)
		rest = after
	}
	tmpl, err := template.Parse(escaped.String())
	if err != nil {
		t.Fatalf("Parse(%q) = %v", escaped.String(), err)
	}
	got, err := tmpl.WithMaxBytes(len(text) + 1).Render(nil)
	if err != nil || got != text {
		t.Fatalf("Render(%q) = %q, %v; want %q", escaped.String(), got, err, text)
	}
}

func checkError(t *testing.T, text string, err error) {
	e, ok := errors.AsType[*template.Error](err)
	if !ok || e.Message == "" || e.Hint == "" {
		t.Fatalf("Parse(%q) = %#v; want a *template.Error with a hint", text, err)
	}
	lines := strings.Split(text, "\n")
	if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
		t.Fatalf("Parse(%q) = %v; want a position inside the text", text, e)
	}
}
