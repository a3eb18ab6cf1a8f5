package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/problem"
)

// Each of these texts is an app file with exactly one mistake.
func TestUnreadable(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // the position of the problem, and the start of its message
		code       problem.Code
		hint       string
	}{
		{"empty", "", "app.yaml:1:1: the app file is empty", problem.Unreadable, "app: shop"},
		{"only a comment", "# nothing\n", "app.yaml:1:1: the app file is empty", problem.Unreadable, "app: shop"},
		{"list", "- app: shop\n", "app.yaml:1:1: an app file must be a mapping, not a list", problem.WrongType, "memory"},
		{"text", "hello", "app.yaml:1:1: an app file must be a mapping, not a string", problem.WrongType, ""},
		{"tab", "app: shop\nmemory:\n\tcart: {}\n", "app.yaml:3:1: YAML does not allow tabs in indentation", problem.Syntax, "spaces"},
		{"not closed", "app: shop\nmemory: {cart: [1,\n", "app.yaml:2:16: ", problem.Syntax, ""},
		{"colon in a string", "app: shop\nsession_idle: a: b\n", "app.yaml:2:15: ", problem.Syntax, "put strings"},
		{"template without quotes", "app: shop\nprompts: {p: {template: {{memory.x}} }}\n", "app.yaml:2:", problem.Syntax, "put strings"},
		{"string that contains a colon", "app: shop\nmemory:\n  cart:\n    description: Note: what they want\n", "app.yaml:4:18: ", problem.Syntax, "put strings that contain `: ` in quotes"},
		{"no space after a colon", "app: shop\nmemory:\n  cart:\n    access:user\n    retention: 30d\n", "app.yaml:4:5: ", problem.Syntax, "space after the colon"},
		{"a space too few", "app: shop\nmemory:\n  cart:\n    access: user\n\n   # why\n   retention: 30d\n",
			"app.yaml:7:4: the indentation of this line does not match any", problem.Syntax, "indent it by 4 spaces, like line 4, or by 2 spaces, like line 3"},
		{"a space too many", "app: shop\nmemory:\n  cart:\n    access: user\n     retention: 30d\n",
			"app.yaml:5:6: the line is indented more than line 4, which already has a value", problem.Syntax, "indent it by 4 spaces, like line 4"},
		{"a section that is indented", "app: shop\n memory: {}\n", "app.yaml:2:2: the line is indented more than line 1", problem.Syntax, "by 0 spaces, like line 1"},
		{"a first line that is indented", "  app: shop\nmemory: {}\n", "app.yaml:2:1: the indentation of this line does not match any", problem.Syntax, "indent it by 2 spaces, like line 1"},
		{"one space too few in a list", "app: shop\nmemory:\n  cart:\n    schema:\n      required:\n      - a\n     - b\n",
			"app.yaml:7:6: the indentation of this line does not match any", problem.Syntax, "indent it by 6 spaces, like line 6, or by 4 spaces, like line 4"},
		{"one space too few after a dash", "app: shop\nmemory:\n  cart:\n    schema:\n      allOf:\n        - type: object\n         title: x\n",
			"app.yaml:7:10: ", problem.Syntax, "indent it by 10 spaces, like line 6, or by 8 spaces, like line 6"},
		{"old mac lines", "\rapp: shop\r\rmemory: x\r", "app.yaml:4:9: memory must be a mapping", problem.WrongType, ""},
		{"latin 1", "app: sh\xf6p\n", "app.yaml:1:8: the byte 0xf6 is not valid UTF-8", problem.Unreadable, "UTF-8"},
		{"utf-16", "\xff\xfea\x00p\x00p\x00", "app.yaml:1:1: the file is encoded in UTF-16", problem.Unreadable, "UTF-8"},
		{"control character", "app: shop\nsession_idle: \x1b\n", "app.yaml:2:15: the file contains the control character U+001B", problem.Unreadable, ""},
		{"two documents", "app: shop\n---\napp: shop\n", "app.yaml:2:1: the file contains more than one YAML document", problem.Syntax, ""},
		{"an empty document before the declaration", "---\n---\napp: shop\n", "app.yaml:2:1: the file contains more than one YAML document", problem.Syntax, ""},
		{"text after the end of the document, whose lines the lexer miscounts", "...>+0", "app.yaml:1:1: the file contains more than one YAML document", problem.Syntax, ""},
		{"text after the end", "app: shop\n...\nmemory: {}\n", "app.yaml:3:1: the file contains more than one YAML document", problem.Syntax, ""},
		{"tag", "app: !!str shop\n", "app.yaml:1:6: tags such as \"!!str\" are not supported", problem.Syntax, "quotes"},
		{"unknown alias", "app: *shop\n", "app.yaml:1:6: the alias *shop has no preceding anchor", problem.Syntax, ""},
		{"alias in its anchor", "app: shop\nmemory: &m {cart: *m}\n", "app.yaml:2:19: the alias *m has no preceding anchor", problem.Syntax, ""},
		{"merge of a text", "app: shop\nmemory: {cart: {<<: x}}\n", "app.yaml:2:21: the key `<<` can merge only mappings, not a string", problem.Syntax, ""},
		{"too large", "app: shop\n#" + strings.Repeat("x", 1<<20), "app.yaml:1:1: the file is larger than 1024 KiB", problem.Unreadable, ""},
		{"too deep in brackets", "app: " + strings.Repeat("[", 1000), "app.yaml:1:134: values are nested more than 128 levels deep", problem.OverLimit, ""},
		{"too deep after unmatched closing brackets", "app: " + strings.Repeat("]", 500) + strings.Repeat("[", 500), "app.yaml:1:634: values are nested", problem.OverLimit, ""},
		{"too deep in lists", "app:\n " + strings.Repeat("- ", 5000) + "x", "app.yaml:2:258: values are nested", problem.OverLimit, ""},
		{"too deep in mappings", deepMapping(400), "app.yaml:", problem.OverLimit, ""},
		{"too many tokens", "app: [" + strings.Repeat("a,", 1<<18), "app.yaml:1:", problem.OverLimit, ""},
		{"billion laughs", billionLaughs("[lol]"), "app.yaml:", problem.OverLimit, ""},
		{"billion empty lists", billionLaughs("[]"), "app.yaml:", problem.OverLimit, ""},
		{"large string many times", "a: &a " + strings.Repeat("x", 1<<19) + "\nb: [*a, *a, *a]\n", "app.yaml:2:13: aliases expand to", problem.OverLimit, ""},
		{"json with a mistake", "{\"app\": \"shop\",\n \"memory\": {\"a\" \"b\"}}", "app.yaml:2:", problem.Syntax, ""},
		{"deep json", "{\"app\": " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", "app.yaml:1:136: ", problem.OverLimit, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, problems := app.Load(files("app.yaml", tt.text), "app.yaml")
			if a != nil || len(problems) != 1 {
				t.Fatalf("Load = %v, %d problems: %v; want no app and one problem", a, len(problems), problems)
			}
			p := problems[0]
			if got := p.String(); !strings.HasPrefix(got, tt.want) || p.Code != tt.code || !strings.Contains(p.Hint, tt.hint) {
				t.Errorf("problem = [%s] %s; want [%s] %s, hint with %q", p.Code, got, tt.code, tt.want, tt.hint)
			}
		})
	}
}

func deepMapping(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func billionLaughs(what string) string {
	text := "a0: &a0 " + what + "\n"
	for i := 1; i < 40; i++ {
		text += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return text
}

func TestYAMLThatWorks(t *testing.T) {
	tests := map[string]string{
		"byte order mark":    "\ufeffapp: shop\nmemory: {cart: {access: user, retention: 30d}}",
		"windows lines":      "app: shop\r\nmemory:\r\n  cart:\r\n    access: user\r\n    retention: 30d\r\n",
		"old mac lines":      "app: shop\rmemory:\r  cart:\r    access: user\r    retention: 30d\r",
		"directive and ends": "%YAML 1.2\n---\napp: shop\nmemory: {cart: {access: user, retention: 30d}}\n...\n",
		"anchor and alias":   "app: shop\nsession_idle: &d 30d\nmemory: {cart: {access: user, retention: *d}}",
		"merge key":          "app: shop\nmemory:\n  cart: &c {access: user, retention: 30d}\n  wish: {<<: *c}",
		"merge of several":   "app: shop\nmemory:\n  cart: &c {access: user, retention: 30d}\n  wish: {<<: [*c, {access: session}]}",
		"quoted keys":        "\"app\": 'shop'\n\"memory\": {'cart': {\"access\": user, retention: \"30d\"}}",
		"json":               `{"app": "shop", "memory": {"cart": {"access": "\u0075ser", "retention": "30d"}}}`,
		"json with tabs":     "{\n\t\"app\": \"shop\",\n\t\"memory\": {\"cart\": {\"access\": \"user\", \"retention\": \"30d\"}}\n}",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			a := mustLoad(t, "app.yaml", text)
			for _, s := range a.Stores {
				if s.Access != "user" || s.Retention.String() != "30d" && s.Retention.String() != "1_month" {
					t.Errorf("store %s = %+v; want access user, 30d", s.Name, s)
				}
			}
			if a.ID != "shop" || len(a.Stores) == 0 {
				t.Errorf("app = %+v", a)
			}
		})
	}
}

func TestRetentionHints(t *testing.T) {
	for text, hint := range map[string]string{
		"1w": "7d", "2w": "14d", "1h30m": "90m", "0d": "at least 1s", "-1d": "positive retention", "30": "30d", "1D": "1d", "Session": "session",
		"6 months": "180d", "1 year": "365d", "forever": "omit retention", "soon": "1_month", "1.5h": "90m", "1_month ": "1_month",
	} {
		a, problems := app.Load(files("app.yaml", "app: shop\nmemory: {cart: {access: user, retention: '"+text+"'}}"), "app.yaml")
		if a != nil || len(problems) != 1 || problems[0].Code != problem.BadValue || problems[0].Line != 2 || problems[0].Column != 42 {
			t.Errorf("retention %q: problems = %v; want one bad_value in 2:42", text, problems)
			continue
		}
		if got := problems[0].Hint; !strings.Contains(got, hint) {
			t.Errorf("retention %q: hint = %q; want one with %q", text, got, hint)
		}
	}
}
