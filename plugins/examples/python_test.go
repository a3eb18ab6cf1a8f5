package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/internal/double/doubletest"
)

// runtime is the path of the file that contains the Python interpreter. runtime is nil until a test
// needs the interpreter.
var runtime atomic.Pointer[string]

// needRuntime makes the Python interpreter available to commands. needRuntime skips the test if
// no interpreter is installed.
func needRuntime(t *testing.T) {
	t.Helper()
	file := disttest.File(t)
	runtime.Store(&file)
}

// getenv returns an environment variable for the commands.
func getenv(name string) string {
	if file := runtime.Load(); file != nil && name == disttest.Variable {
		return *file
	}
	return ""
}

// isPython reports whether a folder contains a Python tool.
func isPython(folder string) bool {
	files, err := filepath.Glob(filepath.Join(folder, "*.py"))
	return err == nil && len(files) > 0
}

// TestUnits runs the unit tests of the Python tools. The tests use the test double that toolrun
// double provides.
func TestUnits(t *testing.T) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	sdk, err := filepath.Abs("../../sdk/python-wasm")
	if err != nil {
		t.Fatal(err)
	}
	toolrun := doubletest.Toolrun(t)
	for _, tool := range append(tools(t), apps...) {
		if !isPython(tool) {
			continue
		}
		t.Run(tool, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(tool, "*.py"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				read(t, file) // this call prevents go test from reusing a cached result
			}
			cmd := exec.Command(interpreter, "-B", "-m", "unittest", "discover")
			cmd.Dir = tool
			cmd.Env = append(os.Environ(), "PYTHONPATH="+sdk, "TOOLRUN="+toolrun)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
