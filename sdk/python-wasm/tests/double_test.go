// Package tests runs the tests of the Python SDK.
package tests

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/double/doubletest"
)

func TestMain(m *testing.M) {
	doubletest.Main()
	os.Exit(m.Run())
}

// python runs Python in the folder of the SDK and returns its standard output and error.
func python(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = "..", &out, &errs
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TOOLRUN="+doubletest.Toolrun(t))
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// needPython skips a test if Python is not installed. needPython reads every file that Python will
// read. After a change of a file, go test therefore does not reuse a cached result.
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
}

// TestUnits runs the Python tests. The tests use the command toolrun double.
func TestUnits(t *testing.T) {
	needPython(t)
	if _, stderr, err := python(t, "-m", "unittest", "discover", "-t", ".", "tests"); err != nil {
		t.Errorf("%v:\n%s", err, stderr)
	}
}

// TestErrors checks that there is an error class for each code of a memory fault, and for no other
// code.
func TestErrors(t *testing.T) {
	needPython(t)
	stdout, stderr, err := python(t, "-c", "import toolrun.errors as e; print(*e.ERRORS)")
	if err != nil {
		t.Fatalf("%v:\n%s", err, stderr)
	}
	var want []string
	for _, code := range abi.Codes() {
		if code.Number() <= abi.Unavailable.Number() || code == abi.NoWorkflow || code == abi.WorkflowEnded || code == abi.NoAgent {
			want = append(want, string(code))
		}
	}
	got := strings.Fields(stdout)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("codes with a class = %v; want %v", got, want)
	}
}
