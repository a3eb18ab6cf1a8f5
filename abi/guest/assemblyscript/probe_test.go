package assemblyscript_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conform"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestProbe runs the probe on the engine, and looks at what each step comes to.
func TestProbe(t *testing.T) {
	const given = `{"n": 1.50, "env":{"KEY":"\ud83d\ude00 ü"}}`
	tests := []struct {
		name, steps, replies, context string
		logs                          string
		fault                         string
	}{
		{name: "nothing"},
		{
			name:    "calls",
			steps:   `{"call":"get_content","store":"prefs","projection":{"n":1.0}},{"call":"set_content","store":"prefs","value":{"a":"}\""}},{"call":"delete_content","store":"prefs","options":null}`,
			replies: `{"reply":{"n":1}},{"reply":{"success":true}},{"reply":{"success":true}}`,
		},
		{
			name:    "a fault that is handled",
			steps:   `{"call":"get_content","store":"fault_conflict"}`,
			replies: `{"fault":{"code":"conflict","message":"as was asked","op":"get_content","store":"fault_conflict"}}`,
		},
		{name: "a fault that is passed on", steps: `{"call":"get_content","store":"fault_read_only"},{"call":"set_content","store":"fault_conflict","value":1},{"pass":true}`, fault: "conflict: as was asked"},
		{name: "an error of its own", steps: `{"fail":"no \"such\" colour"}`, fault: `tool_error: no "such" colour`},
		{name: "logs", steps: `{"log":"debug","text":"a"},{"log":"info","text":"ü"},{"log":"warn","text":""},{"log":"error","text":"d\n"},{"print":"e"}`, logs: "debug a|info ü|warn |error d\n|info e"},
		{name: "context", steps: `{"context":{"a":1,"b":{}}},{"context":{"a":[2.0]}}`, context: `{"a":[2.0],"b":{}}`},
	}
	program := load(t, "probe/probe.wasm")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := `{"steps": [` + tt.steps + `]}`
			out, logs, err := run(program, input, given)
			if tt.fault != "" {
				if err == nil || err.Error() != tt.fault {
					t.Errorf("Run = %s, %v; want %s", out.Output, err, tt.fault)
				}
				return
			}
			want := `{"replies":[` + tt.replies + `],"input":` + input + `,"context":` + given + `}`
			if err != nil || string(out.Output) != want {
				t.Errorf("Run = %s, %v; want %s", out.Output, err, want)
			}
			if got := strings.Join(logs, "|"); got != tt.logs {
				t.Errorf("logs = %q; want %q", got, tt.logs)
			}
			if got := sorted(t, out.Context); got != sorted(t, []byte(tt.context)) {
				t.Errorf("context = %s; want %s", got, tt.context)
			}
		})
	}
}

// TestConform has the probe pass what every plug-in passes.
func TestConform(t *testing.T) {
	program := load(t, "probe/probe.wasm")
	for _, outcome := range conform.Check(t.Context(), program, json.RawMessage(`{"steps":[{"call":"get_content","store":"prefs"}]}`)) {
		if !outcome.OK {
			t.Errorf("%s: %s", outcome.Name, outcome.Detail)
		}
	}
}

func load(t *testing.T, path string) engine.Program {
	t.Helper()
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	program, err := wasm.New().Load(t.Context(), engine.Source{Path: "probe.wasm", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

func run(program engine.Program, input, given string) (engine.Output, []string, error) {
	var memory conform.Double
	var logs []string
	in := engine.Input{Input: json.RawMessage(input), Context: json.RawMessage(given)}
	out, err := program.Run(context.Background(), in, engine.Host{
		Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
			reply, fault := memory.Call(call)
			if fault != nil {
				return nil, fault
			}
			return reply, nil
		},
		Log: func(level abi.Level, text string) error {
			logs = append(logs, string(level)+" "+text)
			return nil
		},
	})
	if fault, ok := errors.AsType[*abi.Fault](err); ok && fault.ID == "" && fault.Code != abi.ToolError {
		return out, logs, errors.New("a fault without an id: " + fault.Error())
	}
	return out, logs, err
}

// sorted is an object with its keys in order, and its values as they are.
func sorted(t *testing.T, object []byte) string {
	t.Helper()
	if len(object) == 0 {
		return ""
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(object, &keys); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
