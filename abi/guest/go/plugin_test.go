package toolrun_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// build makes a plug-in of a folder, as authors do.
func build(t *testing.T, folder string) []byte {
	t.Helper()
	readSources(t)
	file := filepath.Join(t.TempDir(), "tool.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", file, folder)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", folder, err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// readSources has the test depend on what it builds, or go test would answer from its cache.
func readSources(t *testing.T) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// load makes a program of a plug-in.
func load(t *testing.T, e engine.Engine, code []byte, entry string) engine.Program {
	t.Helper()
	program, err := e.Load(t.Context(), engine.Source{Path: "tool.wasm", Code: code, Entry: entry})
	if err != nil {
		t.Fatalf("Load = %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

// TestInGo is what Go does in its own way. The suite of the engines, which package wasm passes with plug-ins of this
// binding, has the rest.
func TestInGo(t *testing.T) {
	code := build(t, "./testdata/behaviours")
	e := wasm.New(wasm.WithCache(filepath.Join(t.TempDir(), "cache")))
	run := func(t *testing.T, entry string) (engine.Output, *abi.Fault, *enginetest.Memory) {
		t.Helper()
		m := enginetest.NewMemory(nil)
		out, err := load(t, e, code, entry).Run(context.Background(), engine.Input{}, m.Host())
		f, ok := err.(*abi.Fault)
		if err != nil && !ok {
			t.Fatal(err)
		}
		return out, f, m
	}
	place := func(t *testing.T, f *abi.Fault, text string) {
		t.Helper()
		line := lineOf(t, "testdata/behaviours/main.go", text)
		if f == nil || f.File != "main.go" || f.Line != line || !strings.Contains(f.Stack, "(main.go:") || strings.Contains(f.Stack, "(/") {
			t.Errorf("fault = %+v; want it at main.go:%d, and the stack", f, line)
		}
	}
	t.Run("a panic", func(t *testing.T) {
		_, f, _ := run(t, "panics")
		if f == nil || f.Code != abi.ToolError || f.Message != "panic: runtime error: integer divide by zero" {
			t.Fatalf("Run = %v; want the panic", f)
		}
		place(t, f, "// line of the panic")
	})
	t.Run("a wrapped fault", func(t *testing.T) {
		_, f, _ := run(t, "uncaught")
		if f == nil || f.Code != abi.AccessDenied || f.ID != "1" || f.Hint != "grant it" {
			t.Fatalf("Run = %v; want the fault of the host", f)
		}
		place(t, f, "// line of the fault")
	})
	t.Run("goroutines", func(t *testing.T) {
		if out, f, _ := run(t, "goroutines"); f != nil || string(out.Output) != "8" {
			t.Errorf("Run = %s, %v; want 8", out.Output, f)
		}
	})
	t.Run("deep recursion", func(t *testing.T) {
		if _, f, _ := run(t, "recurse"); f == nil || f.Code != abi.MemoryLimit {
			t.Errorf("Run = %v; want %s", f, abi.MemoryLimit)
		}
	})
	t.Run("exit", func(t *testing.T) {
		if _, f, _ := run(t, "exit"); f == nil || f.Code != abi.ToolError {
			t.Errorf("Run = %v; want %s", f, abi.ToolError)
		}
	})
	t.Run("no handler", func(t *testing.T) {
		if _, f, _ := run(t, "toolrun_run"); f == nil || !strings.Contains(f.Message, "toolrun.Handle") {
			t.Errorf("Run = %v; want what is missing", f)
		}
	})
}

// TestProbe has the probe do all that it can.
func TestProbe(t *testing.T) {
	program := load(t, wasm.New(), build(t, "./probe"), "")
	tests := []struct {
		name, input, output, context string
		fault                        string
		logs                         []abi.LogLine
	}{
		{name: "calls", input: `{"steps":[
				{"call":"get_content","store":"prefs","projection":{"a":1},"options":{"record":true}},
				{"call":"set_content","store":"prefs","value":{"a":"<ü>"},"options":{"replace":true}},
				{"call":"get_content","store":"prefs"},
				{"call":"delete_content","store":"prefs","options":{}},
				{"call":"get_content","store":"forbidden"},
				{"call":"nope","store":"prefs"}]}`,
			output: `[{"reply":null},{"reply":{"success":true}},{"reply":{"a":"<ü>"}},{"reply":{"success":true,"deleted":true}},
				{"fault":{"code":"access_denied","message":"the tool may not read forbidden","op":"get_content","store":"forbidden",
					"violations":[{"pointer":"/a","keyword":"type","limit":"integer"}],"hint":"grant it"}},
				{"fault":{"code":"invalid_argument","message":"there is no operation \"nope\" of 2 arguments","op":"nope","store":"prefs"}}]`},
		{name: "logs", input: `{"steps":[{"log":"debug","text":"d"},{"log":"info","text":"i"},{"log":"warn","text":"w"},{"log":"error","text":"e"},{"print":"p"}]}`,
			output: `[]`, logs: []abi.LogLine{{Level: "debug", Text: "d"}, {Level: "info", Text: "i"}, {Level: "warn", Text: "w"}, {Level: "error", Text: "e"}, {Level: "info", Text: "p"}}},
		{name: "context", input: `{"steps":[{"context":{"a":[1],"b":null}},{"context":{"a":2}}]}`, output: `[]`, context: `{"a":2,"b":null}`},
		{name: "fails", input: `{"steps":[{"fail":"broken"}]}`, fault: "tool_error: broken"},
		{name: "passes a fault on", input: `{"steps":[{"call":"get_content","store":"forbidden"},{"pass":true}]}`, fault: "access_denied: the tool may not read forbidden"},
		{name: "does not know", input: `{"steps":[{"dance":1}]}`, fault: "tool_error: the step says nothing that the probe knows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := enginetest.NewMemory(nil)
			in := engine.Input{Input: json.RawMessage(tt.input), Context: json.RawMessage(`{"runId":"r","env":{}}`)}
			out, err := program.Run(context.Background(), in, m.Host())
			if tt.fault != "" {
				if err == nil || err.Error() != tt.fault {
					t.Fatalf("Run = %s, %v; want %s", out.Output, err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantJSON(t, "output", out.Output, `{"replies":`+tt.output+`,"input":`+tt.input+`,"context":{"runId":"r","env":{}}}`)
			if tt.context != "" || out.Context != nil {
				wantJSON(t, "context", out.Context, tt.context)
			}
			wantLogs(t, m.Logs(), tt.logs)
			if tt.name == "calls" {
				wantJSON(t, "projection", m.Calls()[0].Arg(1), `{"a":1}`)
			}
		})
	}
}

func wantJSON(t *testing.T, what string, got json.RawMessage, want string) {
	t.Helper()
	if g, w := canonical(got), canonical([]byte(want)); g != w {
		t.Errorf("%s = %s; want %s", what, g, w)
	}
}

// canonical writes a JSON text in one way.
func canonical(text []byte) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err.Error() + " in " + string(text)
	}
	again, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(again)
}

func wantLogs(t *testing.T, got, want []abi.LogLine) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("logs = %+v; want %+v", got, want)
	}
	for i := range got {
		if got[i].Level != want[i].Level || got[i].Text != want[i].Text {
			t.Errorf("log %d = %+v; want %+v", i, got[i], want[i])
		}
	}
}
