package binary_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

var update = flag.Bool("update", false, "rewrite testdata/baseline.txt")

// TestBaseline parses every module of the WebAssembly test suite in wazero's sources: valid
// modules, invalid modules and modules for proposals. testdata/baseline.txt must list exactly the
// modules that wazero compiles but Parse rejects, with the reason for each module.
func TestBaseline(t *testing.T) {
	files := suiteModules(t)
	if len(files) == 0 {
		t.Skip("wazero's sources are not available: no modules in internal/integration_test/spectest")
	}
	var rejected []string
	accepted := 0
	for _, file := range files {
		wasm, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := binary.Parse(wasm, binary.Limits{})
		if err == nil {
			accepted++
			checkModule(t, wasm, m)
			continue
		}
		if compiles(wasm) {
			rejected = append(rejected, fmt.Sprintf("%s: %s", name(file), reason(err)))
		}
	}
	if accepted < 3000 {
		t.Errorf("accepted %d modules of %d; want at least 3000", accepted, len(files))
	}
	compare(t, filepath.Join("testdata", "baseline.txt"), rejected)
}

// suiteModules returns the files of all modules in the suite. suiteModules returns none if wazero's
// sources are not available.
func suiteModules(t testing.TB) []string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(wazero.NewRuntime).Pointer()).FileLine(0)
	suite := filepath.Join(filepath.Dir(file), "internal", "integration_test", "spectest")
	files, err := filepath.Glob(filepath.Join(suite, "*", "testdata", "*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func name(file string) string {
	return filepath.Base(filepath.Dir(filepath.Dir(file))) + "/" + filepath.Base(file)
}

func reason(err error) string {
	if e, ok := errors.AsType[*binary.Error](err); ok {
		return e.Kind.String() + ": " + e.Message
	}
	return err.Error()
}

// compiles reports whether wazero compiles a module. The module must be small, because wazero
// allocates memory for the counts in the module.
func compiles(wasm []byte) bool {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err := r.CompileModule(ctx, wasm)
	return err == nil
}

// compare checks that a file contains exactly the given lines.
func compare(t *testing.T, file string, lines []string) {
	slices.Sort(lines)
	if *update {
		const head = "# Modules of the test suite that wazero compiles and Parse rejects, with the reason.\n# Rewritten by go test -run TestBaseline -update.\n"
		if err := os.WriteFile(file, []byte(head+strings.Join(append(lines, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			want = append(want, line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(want, line) {
			t.Errorf("rejected, but not in %s: %s", file, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("in %s, but not rejected with that reason: %s", file, line)
		}
	}
}

// checkModule checks properties that every module accepted by Parse must have.
func checkModule(t *testing.T, wasm []byte, m *binary.Module) {
	t.Helper()
	again, err := binary.Parse(binary.Join(m.Sections), binary.Limits{})
	if err != nil {
		t.Errorf("Parse(Join(sections)): %v", err)
	} else if len(again.Functions) != len(m.Functions) || len(again.References) != len(m.References) {
		t.Errorf("Parse(Join(sections)) = %d functions, %d references; want %d and %d", len(again.Functions), len(again.References), len(m.Functions), len(m.References))
	}
	for _, f := range m.Functions {
		if got := wasm[f.Offset:][:len(f.Body)]; &got[0] != &f.Body[0] {
			t.Errorf("Offset %d is not the start of the body", f.Offset)
		}
		end := 0
		var last binary.Op
		for in := range binary.Instructions(f.Code) {
			if in.Offset != end || in.End <= in.Offset {
				t.Fatalf("instruction from %d to %d follows one that ended at %d", in.Offset, in.End, end)
			}
			end, last = in.End, in.Op
		}
		if end != len(f.Code) || last != binary.End {
			t.Errorf("the instructions of a function end at %d with opcode %#x; want %d and the end instruction", end, last, len(f.Code))
		}
	}
	for _, ref := range m.References {
		if v, n := binary.Uint32(wasm[ref.Offset:]); v != ref.Index || n != ref.End-ref.Offset {
			t.Errorf("reference %+v is at index %d of %d bytes", ref, v, n)
		}
	}
}
