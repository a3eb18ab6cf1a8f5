package agent

import (
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

func parseAgent(t testing.TB, source string) *abl.Document {
	t.Helper()
	d, problems := abl.Parse("test.abl", []byte(source))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

const maskedAgent = `AGENT: A
GOAL: "g"
MEMORY:
  session:
    - plain
    - pin
      SENSITIVE: true
    - card
      SENSITIVE: true
      SENSITIVE_DISPLAY: mask
    - code
      SENSITIVE: true
      SENSITIVE_DISPLAY: mask
      MASK_CONFIG:
        showFirst: 1
        showLast: 2
        char: "#"
    - owner
      SENSITIVE: true
      SENSITIVE_DISPLAY: replace
  persistent:
    - user.ssn
      SENSITIVE: true
      SENSITIVE_DISPLAY: replace
`

func TestDisplayOfSensitiveValues(t *testing.T) {
	d := parseAgent(t, maskedAgent)
	m := newMasks(d, []*abl.Document{d})
	for _, tt := range []struct {
		name        string
		value, want any
	}{
		{"plain", "visible", "visible"},
		{"pin", "1234", "[REDACTED]"},
		{"pin", 1234.0, "[REDACTED]"},
		{"pin", nil, nil},
		{"pin", abl.Undefined{}, nil},
		{"card", "4111111111111234", "************1234"},
		{"card", 41111234.0, "****1234"},
		{"card", "1234", "****"},
		{"card", "", ""},
		{"card", []any{"4111"}, "[REDACTED]"},
		{"code", "äbcdeé", "ä###eé"},
		{"code", "abc", "###"},
		{"owner", map[string]any{"name": "Ann"}, "[OWNER]"},
		{"owner.name", "Ann", "[OWNER]"},
		{"user.ssn", "123-45-6789", "[SSN]"},
		{"user.ssnx", "123-45-6789", "123-45-6789"},
	} {
		if got := m.show(tt.name, tt.value); got != tt.want {
			t.Errorf("show(%s, %v) = %v; want %v", tt.name, tt.value, got, tt.want)
		}
	}
}

// TestFactsAreSensitiveForAllAgents checks that an agent cannot show a fact that another agent of the
// app declares as sensitive.
func TestFactsAreSensitiveForAllAgents(t *testing.T) {
	one := parseAgent(t, maskedAgent)
	two := parseAgent(t, "AGENT: B\nGOAL: \"g\"\nMEMORY:\n  persistent:\n    - user.ssn\n")
	m := newMasks(two, []*abl.Document{one, two})
	if got := m.show("user.ssn", "123"); got != "[SSN]" {
		t.Errorf("show(user.ssn) = %v; want [SSN]", got)
	}
	if got := m.show("pin", "123"); got != "123" {
		t.Errorf("show(pin) = %v; want 123, because variables belong to an agent", got)
	}
}

func TestMaskedScope(t *testing.T) {
	d := parseAgent(t, maskedAgent)
	scope := maskedScope{abl.Variables{
		"plain": "p", "pin": "1234", "owner": map[string]any{"name": "Ann"}, "user.ssn": "123-45-6789",
		"card": "4111111111111234", "cards": []any{"4111"},
	}, newMasks(d, []*abl.Document{d})}
	for source, want := range map[string]string{
		"{{plain}} {{pin}} {{card}}":          "p [REDACTED] ************1234",
		"{{owner}} {{owner.name}}":            "[OWNER] [OWNER]",
		"{{owner.age}}|{{missing}}":           "|",
		"{{user.ssn}}":                        "[SSN]",
		"{{#if pin}}set{{else}}unset{{/if}}":  "set",
		"{{#if code}}set{{else}}unset{{/if}}": "unset",
		"{{UPPER(owner.name)}}":               "[OWNER]",
		"{{#each cards}}{{this}}{{#if pin == \"1234\"}} {{pin}}{{/if}}{{/each}}": "4111 [REDACTED]",
		"{{#each owner}}{{this}}{{else}}none{{/each}}":                           "none",
	} {
		template, err := abl.ParseTemplate(source)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := template.Render(scope.Scope, abl.Options{Shown: scope})
		if err != nil || got != want {
			t.Errorf("%s renders %q, %v; want %q", source, got, err, want)
		}
	}
}
