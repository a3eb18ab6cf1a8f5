package js_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

// TestMissingInput runs tools in which a missing input causes NaN in the output. A warning must
// explain this. If a missing input is optional, there must be no warning.
func TestMissingInput(t *testing.T) {
	tests := []struct{ name, code, input, want string }{
		{"missing", "return $x + 1;", `{"y": 1}`, "the input has no x, but the tool reads $x"},
		{"one of two", "return [$a * $b];", `{"a": 1}`, "the input has no b, but the tool reads $b"},
		{"given", "return $x * 1;", `{"x": "a"}`, ""},
		{"optional", "return ($x ?? 1) + 1;", `{}`, ""},
		{"another's", "return input.x + 1;", `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, err := js.New().Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(tt.code)})
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			out, err := program.Run(t.Context(), engine.Input{Input: []byte(tt.input), Context: []byte("{}")}, engine.Host{})
			if err != nil {
				t.Fatal(err)
			}
			about := slices.DeleteFunc(out.Warnings, func(w string) bool { return !strings.HasPrefix(w, "the input") })
			if got := strings.Join(about, "\n"); got != tt.want {
				t.Errorf("warnings = %q; want %q", got, tt.want)
			}
		})
	}
}
