package abl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

func TestRender(t *testing.T) {
	vars := abl.Variables{
		"name": "Ann", "empty": "", "n": 3.5, "yes": true, "list": []any{"a", 2.0}, "obj": map[string]any{"k": "v", "b": "<b>"}, "user.tier": "gold",
		"hotels": []any{
			map[string]any{"name": "Alpha", "price": 90.0, "rating": 4.5, "rooms": []any{map[string]any{"id": 1.0}, map[string]any{"id": 2.0}}},
			map[string]any{"name": "Beta", "price": 80.0, "rooms": []any{}},
		},
	}
	for _, tt := range []struct{ name, template, want string }{
		{"text", "no braces { } }} $", "no braces { } }} $"},
		{"name", "Hello {{name}}, {{ name }}!", "Hello Ann, Ann!"},
		{"path", "{{obj.k}} {{user.tier}} {{hotels[0].name}}", "v gold Alpha"},
		{"dollar", "Total: ${{n}}", "Total: $3.5"},
		{"unset", "[{{missing}}][{{missing.x.y}}][{{empty}}]", "[][][]"},
		{"values", "{{yes}} {{list}} {{obj}}", `true ["a",2] {"b":"<b>","k":"v"}`},
		{"length", "{{hotels.length}} {{name.length}}", "2 3"},
		{"escaped", `\{{name}} {{name}}`, "{{name}} Ann"},
		{"function", `{{MASK("4111111111111111", "last4")}} {{UPPER(name)}}`, "************1111 ANN"},
		{"helper", `{{add n 1}} {{upper name}} {{ADD n -1}} {{coalesce missing "x"}}`, "4.5 ANN 2.5 x"},
		{"operator", `{{n + 1}} {{length}} {{name contains "A"}}`, "4.5  true"},
		{"braces in a string", `{{"}}"}}{{'{{'}}`, "}}{{"},
		{"if", "{{#if yes}}a{{else}}b{{/if}}{{#if missing}}c{{else}}d{{/if}}{{#if empty}}e{{/if}}", "ad"},
		{"each", "{{#each list}}[{{this}} {{@index}} {{@first}} {{@last}}]{{/each}}", "[a 0 true false][2 1 false true]"},
		{"each of nothing", "{{#each missing}}x{{else}}none{{/each}}{{#each name}}y{{/each}}", "none"},
		{"nested", "{{#each hotels}}{{name}}:{{#each rooms}}{{id}}{{add @index 1}},{{else}}no{{/each}};{{/each}}{{name}}", "Alpha:11,22,;Beta:no;Ann"},
		{"outer", "{{#each hotels}}{{n}}{{obj.k}}{{/each}}", "3.5v3.5v"},
		{"lines", "Hotels:\n{{#each hotels}}\n{{add @index 1}}. {{name}} - ${{price}}/night ({{rating}} stars)\n{{/each}}",
			"Hotels:\n1. Alpha - $90/night (4.5 stars)\n2. Beta - $80/night ( stars)"},
		{"lines and text", "a\n  {{#if yes}}  \n  b\n  {{/if}}\nc\n", "a\n  b\nc\n"},
	} {
		parsed, err := abl.ParseTemplate(tt.template)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got, warnings, err := parsed.Render(vars, testOptions())
		if got != tt.want || err != nil || len(warnings) > 0 {
			t.Errorf("%s: Render = %q, %v, %v; want %q", tt.name, got, warnings, err, tt.want)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for _, tt := range []struct{ template, want string }{
		{"Hello {{name", "1:7: the braces {{ are not closed"},
		{"a\n{{}}", "2:3: the braces contain no expression"},
		{"{{{name}}}", "1:3: the braces contain no expression"},
		{"{{a b}}", `1:5: unexpected "b"`},
		{"{{add 1}}", "1:3: the function ADD takes 2 arguments, not 1"},
		{"{{#each a}}x", "1:1: the block {{#each}} is not closed"},
		{"{{/each}}", "1:1: {{/each}} does not close a block"},
		{"{{#if a}}{{/each}}", "1:10: {{/each}} does not close a block"},
		{"{{else}}", "1:1: {{else}} does not belong to a block"},
		{"{{#if a}}{{else}}{{else}}{{/if}}", "1:18: {{else}} does not belong to a block"},
		{"{{#unless a}}{{/unless}}", `1:1: unknown block "#unless"`},
		{"{{#each}}{{/each}}", "1:8: the expression is incomplete"},
		{"é {{x -> y}}", `1:7: unexpected "->"`},
		{strings.Repeat("{{#if a}}", 40), "1:289: blocks are nested deeper than 32 levels"},
	} {
		_, err := abl.ParseTemplate(tt.template)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", tt.template, err, tt.want)
		}
	}
}

func TestRenderBounds(t *testing.T) {
	items := make([]any, 2000)
	vars := abl.Variables{"items": items, "long": strings.Repeat("x", 60_000)}
	for template, want := range map[string]error{
		"{{long}}{{long}}": abl.ErrTooLong,
		"{{#each items}}{{#each items}}{{/each}}{{/each}}":                         abl.ErrCost,
		"{{#each items}}{{#each items}}{{#each items}}{{/each}}{{/each}}{{/each}}": abl.ErrCost,
		"{{UNIQUE_ID()}}": abl.ErrNoRandom,
	} {
		parsed, err := abl.ParseTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := parsed.Render(vars, abl.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: Render fails with %v; want %v", template, err, want)
		}
	}
}

// FuzzTemplate checks that parsing and rendering never panic. FuzzTemplate also checks that a text
// without braces is rendered unchanged.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"a {{b}} c", "{{#each list}}{{this}}{{else}}x{{/each}}", "\n {{#if x}} \n{{/if}}", `\{{`, "{{add @index 1}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		parsed, err := abl.ParseTemplate(source)
		if err != nil {
			return
		}
		got, _, err := parsed.Render(abl.Variables(testVariables()), testOptions())
		if err == nil && !strings.Contains(source, "{{") && got != source {
			t.Fatalf("%q renders as %q", source, got)
		}
	})
}
