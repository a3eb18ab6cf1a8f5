package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/schema"
)

// folded returns an expression with n case-insensitive classes. Parsing each class adds the other
// cases of 125,000 characters.
func folded(classes int) string { return "(?i)" + strings.Repeat("[B-\U0001E942]", classes) }

// TestParsingIsBounded checks expressions that would take seconds to parse, both in a schema and as
// a value of the format regex.
func TestParsingIsBounded(t *testing.T) {
	var properties []string
	for i := range 8 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","pattern":%q}`, i, folded(900)))
	}
	for name, text := range map[string]string{
		"one":         fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string","pattern":%q}}}`, folded(900)),
		"many":        `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`,
		"many small":  `{"type":"object","patternProperties":{` + small(200) + `}}`,
		"of property": fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string","pattern":%q}}}`, "["+strings.Repeat(`\pL`, 2700)+"]"),
	} {
		began := time.Now()
		if _, err := schema.Compile([]byte(text), schema.Options{}); err == nil || !strings.Contains(err.Error(), "too many case-insensitive classes") {
			t.Errorf("%s: Compile = %v; want an error about too many classes", name, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: Compile took %s", name, took)
		}
	}
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"p":{"type":"array","items":{"type":"string","format":"regex"}}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dear := make([]any, 30)
	for i := range dear {
		dear[i] = folded(900)
	}
	began := time.Now()
	if found := s.Validate(map[string]any{"p": dear}); len(found) == 0 {
		t.Error("Validate = none; want violations of the format")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Validate took %s", took)
	}
	for _, expression := range []string{`^[a-z]+$`, `\p{L}+`, `[\p{Lu}\d]{2,4}`, `\(?id\)`, `(?:a|b)`} {
		if found := s.Validate(map[string]any{"p": []any{expression}}); len(found) > 0 {
			t.Errorf("Validate(%s) = %v; want none", expression, found)
		}
	}
}

// small returns n different patterns with a case-insensitive class.
func small(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"(?i)^[a-z%d]$":{"type":"string"}`, i)
	}
	return strings.Join(names, ",")
}
