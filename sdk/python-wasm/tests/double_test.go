// Package tests holds the memory double of the Python SDK to the host's own memory.
package tests

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// python runs Python in the folder of the SDK and returns what it wrote to standard output and error.
func python(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = "..", &out, &errs
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// needPython skips a test where there is no Python for it. It reads all that Python will: a result that go test keeps is
// then one of these files.
func needPython(t *testing.T) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, err = os.ReadFile(filepath.Join("..", name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	if _, _, err := python(t, "-c", "import jsonschema"); err != nil {
		t.Skip("the Python package jsonschema is not installed (Debian: python3-jsonschema)")
	}
}

// TestUnits runs the double's own tests.
func TestUnits(t *testing.T) {
	needPython(t)
	if _, stderr, err := python(t, "-m", "unittest", "discover", "-t", ".", "tests"); err != nil {
		t.Errorf("%v:\n%s", err, stderr)
	}
}

// difference is where the double answers otherwise than the host.
type difference struct {
	Where     string
	Want, Got json.RawMessage
}

var (
	seed  = flag.Uint64("seed", 7, "what TestRandom's vectors are made from")
	count = flag.Int("vectors", 200, "how many TestRandom makes")
)

// TestRandom has the double and the host answer the same calls, at random.
func TestRandom(t *testing.T) {
	needPython(t)
	doc := document{Vectors: randomVectors(t, *seed, *count)}
	file := filepath.Join(t.TempDir(), "random.json")
	if err := os.WriteFile(file, layout(t, doc), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := python(t, "-m", "tests.vectors", file)
	if err != nil {
		t.Fatalf("%v:\n%s", err, stderr)
	}
	var found []difference
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err)
	}
	for _, d := range found[:min(len(found), 5)] {
		t.Errorf("%s\nhost:   %s\ndouble: %s", d.Where, d.Want, d.Got)
	}
	if len(found) > 0 {
		t.Errorf("%d differences", len(found))
	}
}

// TestErrors demands a class for the code of every fault of memory, and for none else.
func TestErrors(t *testing.T) {
	needPython(t)
	stdout, stderr, err := python(t, "-c", "import toolrun.errors as e; print(*e.ERRORS)")
	if err != nil {
		t.Fatalf("%v:\n%s", err, stderr)
	}
	var want []string
	for _, code := range abi.Codes() {
		if code.Number() <= abi.Unavailable.Number() {
			want = append(want, string(code))
		}
	}
	if got := strings.Fields(stdout); !slices.Equal(got, want) {
		t.Errorf("there are classes for %v; want %v", got, want)
	}
}

const operationsFile = "../toolrun/testing/operations.json"

// TestOperations holds the double's table of operations to that of package abi.
func TestOperations(t *testing.T) {
	operations, err := json.MarshalIndent(abi.Operations, "  ", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("{\n  \"generated\": \"by go test ./sdk/python-wasm/tests -update\",\n  \"operations\": %s\n}\n", operations)
	if *update {
		if err := os.WriteFile(operationsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(operationsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what package abi says: go test ./sdk/python-wasm/tests -update", operationsFile)
	}
}
