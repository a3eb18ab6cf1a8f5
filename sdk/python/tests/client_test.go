// Package tests runs the tests of the Python client.
package tests

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// python returns the path of an interpreter that has the named modules. python reads every file
// that Python will read. After a change of a file, go test therefore does not reuse a cached
// result.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	for _, folder := range []string{"..", "../../python-wasm"} {
		err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, err = os.ReadFile(filepath.Join(folder, name))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"python3", "/usr/bin/python3"} { // the second interpreter has Debian's packages
		if exec.CommandContext(t.Context(), program, "-c", "import "+strings.Join(append(modules, "sys"), ", ")).Run() == nil {
			return program
		}
	}
	t.Skipf("no python3 has the modules %q; on Debian, the packages python3-httpx, python3-pip, python3-setuptools, python3-wheel and mypy contain them", modules)
	return ""
}

// run runs a program in the folder of the client and returns its standard output.
func run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	return runIn(t, "..", env, program, args...)
}

func runIn(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %q: %v\n%s%s", program, args, err, &out, &errs)
	}
	return out.String()
}

// TestClient runs the Python tests. Most of these tests use toolrun serve.
func TestClient(t *testing.T) {
	program := python(t, "httpx")
	s := serve(t)
	operations := filepath.Join(t.TempDir(), "operations")
	run(t, append(s.environ(), "OPERATIONS="+operations), program, "-m", "unittest", "discover", "-t", ".", "tests")
	checkOperations(t, operations)
}

// notCalled lists the operations that the client does not use, because it calls other operations
// with the same effect.
var notCalled = []string{
	"POST /api/v1/sessions/{session_id}/runs",
	"POST /api/v1/sessions/{session_id}/runs/stream",
}

// checkOperations checks that the tests have called every operation of the API.
func checkOperations(t *testing.T, file string) {
	t.Helper()
	called, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	for path, methods := range api.Paths {
		pattern := regexp.MustCompile(`\\\{.*?\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		for method := range methods {
			operation := strings.ToUpper(method) + " " + path
			want := !slices.Contains(notCalled, operation)
			line := regexp.MustCompile(`(?m)^` + strings.ToUpper(method) + " " + pattern + "$")
			if got := line.Match(called); got != want {
				t.Errorf("%s was called: %v; want %v", operation, got, want)
			}
		}
	}
}

// TestErrors checks that there is an error class for each fault code.
func TestErrors(t *testing.T) {
	got := strings.Fields(run(t, nil, python(t, "httpx"), "-c", "import toolrun.client as c; print(*c.ERRORS)"))
	var want []string
	for _, code := range abi.Codes() {
		want = append(want, string(code))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("codes with a class = %v; want %v", got, want)
	}
}

// TestGenerated checks that the generated packages are up to date.
func TestGenerated(t *testing.T) {
	run(t, nil, python(t), "unasync.py", "--check")
}

// TestTypes checks the types of the client and of its tests, with the rules for the oldest
// supported version of Python.
func TestTypes(t *testing.T) {
	program := python(t, "httpx", "mypy")
	run(t, nil, program, "-m", "mypy", "--python-version", "3.9", "--cache-dir", t.TempDir(), "-p", "toolrun.client", "-p", "tests")
	run(t, nil, program, "-c", "import ast, glob\n"+
		"for name in glob.glob('**/*.py', recursive=True): ast.parse(open(name, encoding='utf-8').read(), name, feature_version=(3, 9))")
}

// TestInstalled installs this package and the package for tests of tools into one folder, and uses
// both from there. The samples of a documentation page run against a service.
func TestInstalled(t *testing.T) {
	program := python(t, "httpx", "setuptools", "pip", "wheel")
	dir := t.TempDir()
	installed := filepath.Join(dir, "installed")
	pip := []string{"-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", installed}
	for _, folder := range []string{"python", "python-wasm"} {
		source := filepath.Join(dir, folder) // setuptools writes files into the folder of the sources
		if err := os.CopyFS(source, os.DirFS("../../"+folder)); err != nil {
			t.Fatal(err)
		}
		pip = append(pip, source)
	}
	run(t, nil, program, pip...)
	env := append(serve(t).environ(), "PYTHONPATH="+installed)
	const check = "import sys, toolrun.client as c, toolrun.testing as t; print(c.__file__, t.__file__, t.MemoryAccessError, c.NotFoundError)"
	if out := runIn(t, dir, env, program, "-c", check); strings.Count(out, installed) != 2 {
		t.Errorf("the packages are imported from %s", out)
	}
	run(t, env, program, "tests/seeds.py")
	if _, err := os.Stat(filepath.Join(installed, "toolrun", "client", "py.typed")); err != nil {
		t.Error(err)
	}
}
