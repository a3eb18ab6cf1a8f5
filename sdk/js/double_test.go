package sdkjs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/double/doubletest"
)

func TestMain(m *testing.M) {
	doubletest.Main()
	os.Exit(m.Run())
}

// doubleTest is the file with the tests of the test double. The tests need no npm packages.
const doubleTest = "test/double.test.mjs"

// TestDouble runs the JavaScript tests of the test double. The tests use the command toolrun
// double.
func TestDouble(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	for _, pattern := range []string{"*.js", "*.mjs", "*.json", "README.md", doubleTest} { // reading the files prevents go test from reusing a cached result
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s = %q, %v", pattern, names, err)
		}
		for _, name := range names {
			if _, err := os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	for name, text := range shop {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	cmd := exec.CommandContext(t.Context(), "node", "--test", doubleTest)
	cmd.Env = append(os.Environ(), "TOOLRUN="+doubletest.Toolrun(t), "APP="+filepath.Join(dir, "app.yaml"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}
