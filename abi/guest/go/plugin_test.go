package toolrun_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// build builds the plug-in in a folder with the command that authors use.
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

// readSources reads the source files, so go test does not reuse a cached result after a change.
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

// load loads a plug-in.
func load(t *testing.T, e engine.Engine, code []byte, entry string) engine.Program {
	t.Helper()
	program, err := e.Load(t.Context(), engine.Source{Path: "tool.wasm", Code: code, Entry: entry})
	if err != nil {
		t.Fatalf("Load = %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

// TestGoBehaviours checks behavior that is specific to Go. The common test suite of the engines
// checks the rest: package wasm runs it with plug-ins that use this binding.
func TestGoBehaviours(t *testing.T) {
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
	checkPosition := func(t *testing.T, f *abi.Fault, text string) {
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
		checkPosition(t, f, "// line of the panic")
	})
	t.Run("a wrapped fault", func(t *testing.T) {
		_, f, _ := run(t, "uncaught")
		if f == nil || f.Code != abi.AccessDenied || f.ID != "1" || f.Hint != "grant it" {
			t.Fatalf("Run = %v; want the fault of the host", f)
		}
		checkPosition(t, f, "// line of the fault")
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
	t.Run("an operation that was not linked", func(t *testing.T) {
		if out, f, m := run(t, "unknown"); f != nil || string(out.Output) != `"invalid_argument"` || len(m.Calls()) != 0 {
			t.Errorf("Run = %s, %v; want invalid_argument, and no call", out.Output, f)
		}
	})
	t.Run("no handler", func(t *testing.T) {
		if _, f, _ := run(t, "toolrun_run"); f == nil || !strings.Contains(f.Message, "toolrun.Handle") {
			t.Errorf("Run = %v; want a fault that names toolrun.Handle", f)
		}
	})
}

// TestProbe checks that the binding follows the ABI.
func TestProbe(t *testing.T) {
	abitest.Guest(t, load(t, wasm.New(), build(t, "./probe"), ""))
}
