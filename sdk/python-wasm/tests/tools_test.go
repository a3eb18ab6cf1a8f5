package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	cpython "github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

var update = flag.Bool("update", false, "update the results in tools.json")

// tool is a test case: a tool and the expected result of one run. The engine has computed the
// expected result, and run_tool must return the same result.
type tool struct {
	Name string `json:"name"`
	Code string `json:"code"`
	// Files contains the modules of a tool that is a folder. Siblings contains the files next to a
	// tool that is a single file.
	Files    map[string]string `json:"files,omitempty"`
	Siblings map[string]string `json:"siblings,omitempty"`
	Params   []string          `json:"params,omitempty"`
	Input    json.RawMessage   `json:"input,omitempty"`

	Output   json.RawMessage `json:"output,omitempty"`
	Error    *fault          `json:"error,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

// fault contains the members of a fault that run_tool also reports.
type fault struct {
	Code    abi.Code `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

// tools is the content of tools.json. The tools in this file are written by hand. The results in
// this file are written by the test.
type tools struct {
	Generated string `json:"generated"`
	Tools     []tool `json:"tools"`
}

const toolsFile = "tools.json"

// TestTools runs every tool in the engine and compares the results.
func TestTools(t *testing.T) {
	text, err := os.ReadFile(toolsFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc tools
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	for i := range doc.Tools {
		doc.Tools[i].runIn(t, e)
	}
	want := doc.layout(t)
	if *update {
		if err := os.WriteFile(toolsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("the results differ (-engine +file):\n%s", diff)
	}
}

// layout returns the content of tools.json with one line per tool.
func (d *tools) layout(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"generated": "in part: the results (output, error, warnings), by go test ./sdk/python-wasm/tests -update",` + "\n\"tools\": [")
	for i, tool := range d.Tools {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(encode(t, tool))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// newEngine returns an engine. newEngine shares the compiled interpreter with the tests of the
// engine's package.
func newEngine(t *testing.T) *cpython.Engine {
	t.Helper()
	file := disttest.File(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	e := cpython.New(
		cpython.WithRuntime(func() ([]byte, error) { return os.ReadFile(file) }),
		cpython.WithCache(filepath.Join(cache, "toolrun", "compiled")),
	)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// runIn runs a tool in the engine and stores its result.
func (tt *tool) runIn(t *testing.T, e *cpython.Engine) {
	t.Helper()
	src := engine.Source{Path: "main.py", Code: []byte(tt.Code), Params: tt.Params}
	if tt.Files != nil {
		files := fstest.MapFS{}
		for name, text := range tt.Files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		src.Files = files
	}
	p, err := e.Load(t.Context(), src)
	if err != nil {
		t.Fatalf("%s: Load = %v", tt.Name, err)
	}
	defer p.Close()
	in := engine.Input{Input: tt.Input, Context: json.RawMessage(`{"env":{},"runId":"run_1"}`)}
	out, err := p.Run(t.Context(), in, enginetest.NewMemory(nil).Host())
	tt.Output, tt.Error, tt.Warnings = out.Output, nil, out.Warnings
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		tt.Output, tt.Error, tt.Warnings = nil, &fault{f.Code, f.Message, f.Hint}, nil
	} else if err != nil {
		t.Fatalf("%s: Run = %v", tt.Name, err)
	}
}
