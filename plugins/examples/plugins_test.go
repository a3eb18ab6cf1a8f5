package examples_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPluginsAreBuilt builds each Go plug-in with its go:generate command and compares the result
// with the committed file. The bytes are equal only if the version of Go is the version in
// toolchain.txt.
func TestPluginsAreBuilt(t *testing.T) {
	plugins, err := filepath.Glob("*/main.go")
	if err != nil || len(plugins) == 0 {
		t.Fatalf("no plug-ins: %v, %v", plugins, err)
	}
	readBinding(t)
	for _, source := range plugins {
		tool := filepath.Dir(source)
		t.Run(tool, func(t *testing.T) {
			made, have := strings.TrimSpace(read(t, filepath.Join(tool, "toolchain.txt"))), goVersion(t)
			if made != have {
				t.Skipf("tool.wasm was built with %s, and this is %s: rebuild it with make plugins", made, have)
			}
			built := filepath.Join(t.TempDir(), "tool.wasm")
			args := buildCommand(t, source, built)
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = tool
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			if read(t, built) != read(t, filepath.Join(tool, "tool.wasm")) {
				t.Error("tool.wasm is stale: run make plugins")
			}
		})
	}
}

// buildCommand returns the go:generate command that builds the plug-in from a source, with another
// output file.
func buildCommand(t *testing.T, source, output string) []string {
	t.Helper()
	for line := range strings.Lines(read(t, source)) {
		if command, ok := strings.CutPrefix(line, "//go:generate env "); ok {
			return strings.Fields("env " + strings.Replace(command, "-o tool.wasm", "-o "+output, 1))
		}
	}
	t.Fatalf("%s has no go:generate line", source)
	return nil
}

// readBinding reads the sources of plug-ins, so go test does not reuse a cached result after a
// change.
func readBinding(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../../abi", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".go" {
			read(t, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func goVersion(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Skip("go is not installed")
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
