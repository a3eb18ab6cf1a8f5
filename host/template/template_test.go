package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/template"
)

func Example() {
	t, err := template.Parse(`Hello {{memory.sessionMeta.metadata.userName}}!
Your last order: {{ memory.userPrefs.recentOrders[0] }}. All: {{memory.userPrefs.recentOrders}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	contents := map[string]json.RawMessage{
		"sessionMeta": json.RawMessage(`{"metadata":{"userName":"John"}}`),
		"userPrefs":   json.RawMessage(`{"recentOrders":["tea","<cake>"]}`),
	}
	text, err := t.Render(func(store string) (json.RawMessage, error) { return contents[store], nil })
	fmt.Println(text, err)

	_, err = template.Parse("Hello {{name}}!")
	bad, _ := errors.AsType[*template.Error](err)
	fmt.Println(bad)
	fmt.Println("hint:", bad.Hint)
	// Output:
	// Hello John!
	// Your last order: tea. All: ["tea","<cake>"] <nil>
	// 1:9: the name "name" is not available in templates
	// hint: write {{memory.<store>}}, {{memory.<store>.<path>}} or the path of a fact, such as {{user.language}}; write two literal braces as \{{
}

var contents = map[string]string{
	"userPrefs": `{"preferences":{"language":"en","notifications":true,"theme":null},"recentOrders":["o-1","o-2"],
		"n":1.50,"big":12345678901234567890,"no":false,"empty":"","odd name":"odd","a.b":"point","":"nameless",
		"0":"zero","größe":"groß","nested":[[1,2],[{"x":"deep"}]],"html":"<b>&\"'</b>","ключ-1":"да","$x":"dollar"}`,
	"sessionMeta": `{"metadata":{"userName":"John","channel":"mobile_app"},"sessionInfo":{}}`,
	"my-notes":    `["first","second"]`,
	"word":        `"just a string"`,
	"null":        `null`,
	"tricky":      `{"t":"{{memory.secret.x}} \\{{ {{{","u":["{{memory.secret}}"]}`,
	"secret":      `{"x":"not for this prompt"}`,
}

func get(store string) (json.RawMessage, error) { return json.RawMessage(contents[store]), nil }

// The templates are from the vendor's documentation of memory stores.
func TestDocumentedTemplates(t *testing.T) {
	tests := []struct{ text, want string }{
		{
			"Welcome back! Your preferred language is {{memory.userPrefs.preferences.language}}.\n\nYour recent orders:\n{{memory.userPrefs.recentOrders}}\n",
			"Welcome back! Your preferred language is en.\n\nYour recent orders:\n[\"o-1\",\"o-2\"]\n",
		},
		{
			"Hello {{memory.sessionMeta.metadata.userName}}!\n\nYou're connecting via {{memory.sessionMeta.metadata.channel}}.",
			"Hello John!\n\nYou're connecting via mobile_app.",
		},
	}
	for _, tt := range tests {
		wantRender(t, tt.text, tt.want)
	}
}

func TestRender(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", ``, ``},
		{"no expression", "plain } }} { $ \\ text\n", "plain } }} { $ \\ text\n"},
		{"spaces", "{{ memory.word }}{{\n\tmemory.word\r\n}}", "just a stringjust a string"},
		{"whole content", `{{memory.my-notes}} {{memory.sessionMeta}}`,
			`["first","second"] {"metadata":{"channel":"mobile_app","userName":"John"},"sessionInfo":{}}`},
		{"numbers keep their literal", `{{memory.userPrefs.n}} {{memory.userPrefs.big}}`, `1.50 12345678901234567890`},
		{"booleans", `{{memory.userPrefs.preferences.notifications}} {{memory.userPrefs.no}}`, `true false`},
		{"null", `[{{memory.userPrefs.preferences.theme}}]`, `[]`},
		{"empty string", `[{{memory.userPrefs.empty}}]`, `[]`},
		{"no such path", `[{{memory.userPrefs.a.b.c}}{{memory.userPrefs.n.x}}{{memory.userPrefs.empty.length}}]`, `[]`},
		{"no content", `[{{memory.none}}{{memory.none.a[0]}}{{memory.null}}{{memory.null.a}}]`, `[]`},
		{"index in both notations", `{{memory.my-notes.0}} {{memory.my-notes[1]}} {{memory.userPrefs.nested.1[0].x}}`, `first second deep`},
		{"index out of range", `[{{memory.my-notes.2}}{{memory.my-notes[99999999999999999999]}}{{memory.my-notes.-1}}]`, `[]`},
		{"indexes have one spelling", `[{{memory.my-notes.01}}{{memory.my-notes["+1"]}}{{memory.my-notes.-0}}{{memory.my-notes.x}}]`, `[]`},
		{"number as a name", `{{memory.userPrefs.0}} {{memory.userPrefs[0]}} {{memory.userPrefs["0"]}}`, `zero zero zero`},
		{"names in quotes", `{{memory.userPrefs["odd name"]}} {{memory.userPrefs["a.b"]}} {{memory.userPrefs[""]}} {{memory["word"]}}`,
			`odd point nameless just a string`},
		{"braces and escapes in quotes", `[{{memory.word["}}"]}}{{memory.word["\"]}}\\"]}}]{{memory.userPrefs["gr\u00f6\u00dfe"]}}`, `[]groß`},
		{"names in other scripts", `{{memory.userPrefs.größe}} {{memory.userPrefs.ключ-1}} {{memory.userPrefs.$x}}`, `groß да dollar`},
		{"no escaping for HTML", `{{memory.userPrefs.html}} {{memory.tricky.u}}`, `<b>&"'</b> ["{{memory.secret}}"]`},
		{"dollar before an expression", `Total: ${{memory.userPrefs.n}}`, `Total: $1.50`},
		{"brace after an expression", `{"a":{{memory.my-notes}}}`, `{"a":["first","second"]}`},
		{"brace before an expression", `{ {{memory.word}} }`, `{ just a string }`},
		{"escaped braces", `\{{memory.word}} \{{ \{{{`, `{{memory.word}} {{ {{{`},
		{"backslash before an expression", `C:\\{{memory.my-notes.0}} \\\{{x}} \\\\{{memory.my-notes[0]}}`, `C:\first \{{x}} \\first`},
		{"other backslashes", `\n \\ \{ \`, `\n \\ \{ \`},
		{"side by side", `{{memory.word}}{{memory.word}}`, `just a stringjust a string`},
		{"contents are not templates", `{{memory.tricky.t}}`, `{{memory.secret.x}} \{{ {{{`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantRender(t, tt.text, tt.want) })
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, text    string
		line, column  int
		message, hint string // substrings
	}{
		{"an index instead of a second name", "Hi\n  {{user[0]}}", 2, 5, `"user" is not available`, "{{memory.<store>.<path>}}"},
		{"a bare name", "{{name}}", 1, 3, `"name" is not available`, `\{{`},
		{"case counts", "{{Memory.a}}", 1, 3, `"Memory" is not available`, "memory"},
		{"no store", "{{memory}}", 1, 3, "does not contain the name of a store", "<store>"},
		{"empty store", `{{memory[""]}}`, 1, 3, "does not contain the name of a store", "<store>"},
		{"columns are characters", "größe 😀 {{x}}", 1, 11, `"x"`, ""},
		{"the second of two", "{{memory.a}}\n{{memory.b}} {{c}}", 2, 16, `"c"`, ""},
		{"nothing inside", "{{}}", 1, 3, `"" is not an expression`, "{{memory"},
		{"block", "{{#each memory.a}}x{{/each}}", 1, 3, `"#each memory.a" is not an expression`, "{{memory"},
		{"comment", "{{! note }}", 1, 3, `"! note" is not an expression`, "{{memory"},
		{"filter", "{{memory.a | upper}}", 1, 12, `"memory.a | upper" is not an expression`, "{{memory"},
		{"space in a path", "{{memory. a}}", 1, 10, "a name is missing", `["a name"]`},
		{"dot at the end", "{{memory.a.}}", 1, 12, "a name is missing", `["a name"]`},
		{"three braces", "a {{{memory.a}}}", 1, 3, "three opening braces", "{ {{"},
		{"not closed", "a\nb {{memory.a", 2, 3, "not closed", `\{{`},
		{"closed by one brace", "{{memory.a} and {{memory.b}}", 1, 1, "not closed", `\{{`},
		{"open at the end", "a {{", 1, 3, "not closed", `\{{`},
		{"empty brackets", "{{memory.a[]}}", 1, 12, "brackets", "[0]"},
		{"name without quotes", "{{memory.a[b]}}", 1, 12, "brackets", `["a name"]`},
		{"negative index", "{{memory.a[-1]}}", 1, 12, "brackets", "[0]"},
		{"brackets not closed", "{{memory.a[0}}", 1, 12, "brackets", "[0]"},
		{"quotes not closed", `{{memory.a["b]}}`, 1, 12, "brackets", `["a name"]`},
		{"quotes end in a backslash", `{{memory.a["b\`, 1, 12, "brackets", `["a name"]`},
		{"bad escape in quotes", `{{memory.a["\x"]}}`, 1, 12, "brackets", `["a name"]`},
		{"no UTF-8", "a\n\ufffd\xff", 2, 2, "not valid UTF-8", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := template.Parse(tt.text)
			e, ok := errors.AsType[*template.Error](err)
			if !ok {
				t.Fatalf("Parse(%q) = %v; want a *template.Error", tt.text, err)
			}
			if e.Line != tt.line || e.Column != tt.column || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("Parse(%q) = %v, hint %q; want %d:%d, message with %q, hint with %q",
					tt.text, e, e.Hint, tt.line, tt.column, tt.message, tt.hint)
			}
		})
	}
}

func TestStoresAreReadOnceInOrder(t *testing.T) {
	tmpl := parse(t, `{{memory.b.x}}{{memory.a}}{{memory.none}}{{memory.b.y}}{{memory.none.z}}{{memory.a.k}}`)
	var requested []string
	_, err := tmpl.Render(func(store string) (json.RawMessage, error) {
		requested = append(requested, store)
		return json.RawMessage(contents[store]), nil
	})
	if want := []string{"b", "a", "none"}; err != nil || !slices.Equal(requested, want) {
		t.Errorf("stores read = %v, %v; want %v", requested, err, want)
	}
}

func TestErrorsOfGet(t *testing.T) {
	tmpl := parse(t, `{{memory.a}}`)
	refused := abi.Faultf(abi.NotFound, "no such store")
	text, err := tmpl.Render(func(string) (json.RawMessage, error) { return nil, refused })
	if text != "" || err != error(refused) {
		t.Errorf("Render = %q, %v; want the error of get unchanged", text, err)
	}
	text, err = tmpl.Render(func(string) (json.RawMessage, error) { return json.RawMessage(`{"hunter2`), nil })
	if text != "" || err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Render of invalid JSON = %q, %v; want an error that does not quote it", text, err)
	}
}

func TestMaxBytes(t *testing.T) {
	tmpl := parse(t, `ab{{memory.word}}`)
	size := len("ab" + "just a string")
	if _, err := tmpl.WithMaxBytes(size).Render(get); err != nil {
		t.Errorf("Render at the limit = %v; want nil", err)
	}
	text, err := tmpl.WithMaxBytes(size - 1).Render(get)
	if text != "" || !errors.Is(err, abi.OutputLimit) {
		t.Errorf("Render over the limit = %q, %v; want %s", text, err, abi.OutputLimit)
	}
	if _, err := tmpl.Render(get); err != nil {
		t.Errorf("WithMaxBytes changed its receiver: %v", err)
	}
	long := strings.Repeat("x", template.DefaultMaxBytes)
	if _, err := parse(t, long).Render(get); err != nil {
		t.Errorf("Render at the default limit = %v; want nil", err)
	}
	if _, err := parse(t, long+"x").Render(get); !errors.Is(err, abi.OutputLimit) {
		t.Errorf("Render over the default limit = %v; want %s", err, abi.OutputLimit)
	}
	for _, n := range []int{0, -1} {
		if _, err := tmpl.WithMaxBytes(n).Render(get); err != nil {
			t.Errorf("Render after WithMaxBytes(%d) = %v; want the default limit", n, err)
		}
	}
}

func TestRefs(t *testing.T) {
	tests := []struct {
		name, text string
		want       []template.Ref
	}{
		{"none", `text`, nil},
		{"whole content", `{{memory.a}}`, []template.Ref{{Store: "a", Line: 1, Column: 3}}},
		{"positions of the first use", "ü {{memory.b.x}}\n{{memory.a.x}}{{memory.b.y}}", []template.Ref{
			{Store: "b", Paths: []string{"x", "y"}, Line: 1, Column: 5},
			{Store: "a", Paths: []string{"x"}, Line: 2, Column: 3},
		}},
		{"a field and a field inside it", `{{memory.a.x.y}}{{memory.a.x-y}}{{memory.a.x}}{{memory.a.x.z}}{{memory.a.x}}`,
			[]template.Ref{{Store: "a", Paths: []string{"x", "x-y"}, Line: 1, Column: 3}}},
		{"the whole content and a field", `{{memory.a.x}}{{memory.a}}`, []template.Ref{{Store: "a", Line: 1, Column: 3}}},
		{"up to an index", `{{memory.a.x[0].y}}{{memory.b[1]}}{{memory.c.x.1.y}}`, []template.Ref{
			{Store: "a", Paths: []string{"x"}, Line: 1, Column: 3},
			{Store: "b", Line: 1, Column: 22},
			{Store: "c", Paths: []string{"x"}, Line: 1, Column: 37},
		}},
		{"a path that ends before a name that projections cannot contain", `{{memory.a.x["y.z"].q}}{{memory.b[""].x}}`, []template.Ref{
			{Store: "a", Paths: []string{"x"}, Line: 1, Column: 3},
			{Store: "b", Line: 1, Column: 26},
		}},
		{"a path that is too long for projections", `{{memory.a` + strings.Repeat(".x", 40) + `}}`, []template.Ref{
			{Store: "a", Paths: []string{strings.Repeat("x.", 31) + "x"}, Line: 1, Column: 3},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parse(t, tt.text).Refs(nil)); diff != "" {
				t.Errorf("Refs of %s (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func parse(t *testing.T, text string) *template.Template {
	t.Helper()
	tmpl, err := template.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q) = %v", text, err)
	}
	return tmpl
}

func wantRender(t *testing.T, text, want string) {
	t.Helper()
	got, err := parse(t, text).Render(get)
	if err != nil || got != want {
		t.Errorf("Render(%q) = %q, %v; want %q", text, got, err, want)
	}
}

// Expressions without a value are returned in the notation of templates, and each expression is
// returned once.
func TestMissing(t *testing.T) {
	const text = `{{memory.prefs.language}} {{memory.prefs["language"]}} {{memory.prefs.name}} {{memory.prefs["a b"].x}} {{memory.prefs.list[7]}} {{memory.none}} {{memory.prefs.off}}`
	parsed, err := template.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	_, missing, err := parsed.RenderFrom(template.Source{Store: func(store string) (json.RawMessage, error) {
		return json.RawMessage(map[string]string{"prefs": `{"name":"Ann","list":[],"off":null}`}[store]), nil
	}})
	want := []string{"memory.prefs.language", `memory.prefs["a b"].x`, "memory.prefs.list[7]", "memory.none", "memory.prefs.off"}
	if err != nil || !slices.Equal(missing, want) {
		t.Errorf("RenderFrom returns the missing expressions %q, %v; want %q", missing, err, want)
	}
	for _, expression := range missing {
		if _, err := template.Parse("{{" + expression + "}}"); err != nil {
			t.Errorf("%s is not an expression: %v", expression, err)
		}
	}
}

// TestFacts renders expressions of facts. The longest declared path must be the fact, and the
// remaining steps must be a path into the value of the fact.
func TestFacts(t *testing.T) {
	values := map[string]string{
		"user.language": `"fr"`, "project.rates": `{"USD":1.10,"list":[{"x":"deep"}],"a.b":"point"}`, "project.rates.top": `"EUR"`, "other.thing": `7`,
	}
	from := template.Source{
		Fact: func(path string) (json.RawMessage, error) { return json.RawMessage(values[path]), nil },
		IsFact: func(path string) bool {
			return slices.Contains([]string{"user.language", "project.rates", "project.rates.top"}, path)
		},
	}
	for _, tt := range []struct{ text, want, missing string }{
		{"{{user.language}} {{ user.language }}", "fr fr", ""},
		{"{{project.rates.USD}} {{project.rates.list[0].x}} {{project.rates.list.0.x}}", "1.10 deep deep", ""},
		{`{{project.rates["a.b"]}}{{project.rates["top"]}}`, "point", "project.rates.top"},
		{"{{project.rates.top}}", "EUR", ""},
		{"{{other.thing}}{{other.thing.x}}{{user.none}}", "7", "other.thing.x user.none"},
		{"{{project.rates}}", `{"USD":1.10,"a.b":"point","list":[{"x":"deep"}]}`, ""},
		{`{{user.language["x"]}}`, "", "user.language.x"},
	} {
		text, missing, err := parse(t, tt.text).RenderFrom(from)
		if err != nil || text != tt.want || strings.Join(missing, " ") != tt.missing {
			t.Errorf("RenderFrom(%s) = %q, %q, %v; want %q, %q", tt.text, text, missing, err, tt.want, tt.missing)
		}
	}
	want := []template.Ref{{Fact: "project.rates", Line: 1, Column: 3}, {Store: "a", Line: 1, Column: 34}, {Fact: "other.thing", Line: 1, Column: 48}}
	got := parse(t, "{{project.rates.USD.x.y.z.aaa}}{{memory.a}}  {{other.thing}}{{project.rates}}").Refs(from.IsFact)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Refs (-want +got):\n%s", diff)
	}
	refused := errors.New("refused")
	if _, _, err := parse(t, "{{user.language}}").RenderFrom(template.Source{Fact: func(string) (json.RawMessage, error) { return nil, refused }}); !errors.Is(err, refused) {
		t.Errorf("RenderFrom = %v; want the error of Fact", err)
	}
}
