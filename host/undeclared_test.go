package host_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
)

// TestUndeclaredInput tests the warnings about members of an input that the tool's schema does not
// declare.
func TestUndeclaredInput(t *testing.T) {
	const known = `properties: {timeZone: {type: string}, city: {}}`
	tests := []struct {
		name, schema, input string
		want                []string
	}{
		{"declared", known, `{"timeZone": "UTC"}`, nil},
		{"other case", known, `{"timezone": "UTC"}`, []string{`the tool's inputSchema does not declare the input "timezone"; did you mean "timeZone"?`}},
		{"nothing near", known, `{"verbose": true}`, []string{`the tool's inputSchema does not declare the input "verbose"`}},
		{"the declared name is given too", known, `{"timezone": "UTC", "timeZone": "UTC"}`, []string{`the tool's inputSchema does not declare the input "timezone"`}},
		{"several", known, `{"b1": 1, "a1": 2}`, []string{
			`the tool's inputSchema does not declare the input "a1"`, `the tool's inputSchema does not declare the input "b1"`,
		}},
		{"open by declaration", known + `, additionalProperties: true`, `{"timezone": "UTC"}`, nil},
		{"declared by a pattern", known + `, patternProperties: {"^time": {}}`, `{"timezone": "UTC"}`, nil},
		{"declared elsewhere", known + `, anyOf: [{required: [timezone]}, {}]`, `{"timezone": "UTC"}`, nil},
		{"nothing is declared", `type: object`, `{"timezone": "UTC"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := openApp(t, fstest.MapFS{
				"app.yaml": {Data: []byte("app: test\ntools:\n  tool:\n    source: tool.js\n    inputSchema: {" + tt.schema + "}\n")},
				"tool.js":  {Data: []byte("if (input.fail) throw new Error('no'); return 1")},
			})
			result, err := run(h, host.Invocation{Input: json.RawMessage(tt.input)})
			got := slices.DeleteFunc(result.Warnings, func(w string) bool { return w == host.InProcessWarning })
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Run(%s) warns %q, %v; want %q", tt.input, got, err, tt.want)
			}
		})
	}
}

// TestUndeclaredInputOfFailure checks that the Result of a failed run also contains the warnings.
// The number of these warnings must be limited.
func TestUndeclaredInputOfFailure(t *testing.T) {
	for name, tool := range map[string]string{"the tool": "throw new Error(input.timezone)", "the input": "return 1 // required"} {
		t.Run(name, func(t *testing.T) {
			required := ""
			if strings.Contains(tool, "required") {
				required = ", required: [timeZone]"
			}
			h := openApp(t, fstest.MapFS{
				"app.yaml": {Data: []byte("app: test\ntools:\n  tool:\n    source: tool.js\n    inputSchema: {properties: {timeZone: {}}" + required + "}\n")},
				"tool.js":  {Data: []byte(tool)},
			})
			input := map[string]int{"timezone": 1}
			for i := range 1000 {
				input["x"+strings.Repeat("y", 100)+itoa(i)] = 1
			}
			text, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			result, err := run(h, host.Invocation{Input: text})
			all := strings.Join(result.Warnings, "\n")
			if err == nil || !strings.Contains(all, `did you mean "timeZone"?`) || len(all) > 4096 {
				t.Errorf("Run warns in %d bytes, %v; want a suggestion in at most 4096: %.500s", len(all), err, all)
			}
		})
	}
}
