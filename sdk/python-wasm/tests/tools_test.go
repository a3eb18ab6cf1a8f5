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

var update = flag.Bool("update", false, "write the answers of tools.json")

// tool is a tool to run once. How it ends the engine answers, and run_tool has to say the same.
type tool struct {
	Name string `json:"name"`
	Code string `json:"code"`
	// Files are the modules of a tool that is a folder, Beside what lies beside one that is not.
	Files  map[string]string `json:"files,omitempty"`
	Beside map[string]string `json:"beside,omitempty"`
	Params []string          `json:"params,omitempty"`
	Input  json.RawMessage   `json:"input,omitempty"`

	Output   json.RawMessage `json:"output,omitempty"`
	Error    *told           `json:"error,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

// told holds the members of a fault that run_tool reports.
type told struct {
	Code    abi.Code `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

// tools is the file of them. What is asked there is written by hand, and the answers by the engine.
type tools struct {
	Generated string `json:"generated"`
	Tools     []tool `json:"tools"`
}

const toolsFile = "tools.json"

// TestTools has the engine run every tool, and compares.
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
		doc.Tools[i].answer(t, e)
	}
	want := doc.layout(t)
	if *update {
		if err := os.WriteFile(toolsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("the engine answers otherwise (-engine +file):\n%s", diff)
	}
}

// layout writes the file, a line for each tool.
func (d *tools) layout(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"generated": "in part: the answers (output, error, warnings), by go test ./sdk/python-wasm/tests -update",` + "\n\"tools\": [")
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

// newEngine makes an engine that keeps the compiled interpreter where its own tests do.
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

// answer has the engine say how a tool ends.
func (tt *tool) answer(t *testing.T, e *cpython.Engine) {
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
		tt.Output, tt.Error, tt.Warnings = nil, &told{f.Code, f.Message, f.Hint}, nil
	} else if err != nil {
		t.Fatalf("%s: Run = %v", tt.Name, err)
	}
}
