package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/python"
)

// CPython has tests for its modules. For some modules, these tests must pass in the engine. Only
// the tests that testdata/cpython/baseline.txt lists may fail. The tests of most modules, such as
// decimal, take minutes. A soak executes all these tests. Any other test run executes only the
// tests of json and two collections.
func TestSoakCPython(t *testing.T) {
	lib := installedTests(t)
	files, err := fs.Glob(lib, "test/test_json/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob of the tests of module json = %v, %v; want files", files, err)
	}
	modules := []string{"test.test_userdict", "test.test_userlist"}
	imported := []string{"test.list_tests", "test.mapping_tests", "test.seq_tests"}
	for _, file := range files {
		modules = append(modules, strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", "."))
	}
	if os.Getenv("TOOLRUN_SOAK") == "" {
		runTests(t, lib, modules, imported...)
		return
	}
	modules = append(modules, "test.test_datetime", "test.test_decimal", "test.test_pickle", "test.test_re", "test.test_statistics")
	runTests(t, lib, modules, append(imported, "test.datetimetester", "test.pickletester", "pure.decimal")...)
}

// tested is the version of CPython whose tests match the baseline. Debian 12 contains this version.
const tested = "3.11.2"

// installedTests returns the folder of an installed CPython library. The library must contain the
// Python package "test".
func installedTests(t *testing.T) fs.FS {
	t.Helper()
	const ask = "import platform, test.test_re as m; print(platform.python_version(), m.__file__)"
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		text, err := exec.Command(python, "-I", "-c", ask).Output()
		version, file, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		if err == nil && version == tested {
			return library{os.DirFS(filepath.Dir(filepath.Dir(file)))}
		}
	}
	t.Skipf("python3 %s with its own tests is not installed; on Debian 12, install libpython3.11-testsuite", tested)
	return nil
}

// library is a file system that contains the Python package "test", and the module _pydecimal under
// the name pure.decimal. The interpreter's own library does not contain _pydecimal.
type library struct{ fs.FS }

func (l library) Open(name string) (fs.File, error) {
	if name == "pure/decimal.py" {
		return l.FS.Open("_pydecimal.py")
	}
	if name != "test" && !strings.HasPrefix(name, "test/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return l.FS.Open(name)
}

// runTests runs the tests of some modules and compares the results with the baseline. The tests
// import some modules by a computed name. runTests adds import statements for these modules.
func runTests(t *testing.T, lib fs.FS, modules []string, imported ...string) {
	driver, err := os.ReadFile("testdata/cpython/driver.py")
	if err != nil {
		t.Fatal(err)
	}
	// The tool never calls the function that contains the import statements. The engine reads the
	// import statements to find the modules that it must load.
	needs := "def needs():\n    import " + strings.Join(append(imported, modules...), ", ") + "\n"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	p, err := sharedEngine(t).Load(ctx, engine.Source{Path: "driver.py", Code: append([]byte(needs), driver...), Files: lib})
	if err != nil {
		t.Fatalf("Load = %+v", err)
	}
	defer p.Close()
	failing := baseline(t)
	for _, module := range modules {
		t.Run(strings.TrimPrefix(module, "test."), func(t *testing.T) {
			compareWith(t, failing, outcomes(ctx, t, p, lib, module))
		})
	}
}

// outcomes runs the tests of a module and returns the result of each test: "passed", "skipped", or
// "failed" with a message.
func outcomes(ctx context.Context, t *testing.T, p engine.Program, lib fs.FS, module string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if module == "test.test_decimal" {
		files = dataFiles(t, lib, "test/decimaltestdata")
	}
	input, err := json.Marshal(map[string]any{"module": module, "files": files})
	if err != nil {
		t.Fatal(err)
	}
	// The tests of decimal use numbers with hundreds of millions of digits.
	in := engine.Input{Input: input, Limits: engine.Limits{MemoryBytes: python.MaxMemoryBytes}}
	out, err := p.Run(ctx, in, enginetest.NewMemory(errors.New("a test called memory; want no calls")).Host())
	if err != nil {
		t.Fatalf("Run = %+v", err)
	}
	ended := map[string]string{}
	if err := json.Unmarshal(out.Output, &ended); err != nil || len(ended) == 0 {
		t.Fatalf("%d tests, %v", len(ended), err)
	}
	return ended
}

// dataFiles reads the files in a folder. Some tests open these files.
func dataFiles(t *testing.T, lib fs.FS, folder string) map[string]string {
	t.Helper()
	entries, err := fs.ReadDir(lib, folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		text, err := fs.ReadFile(lib, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// baseline returns the tests that are known to fail. For each test, the function also returns the
// reason.
func baseline(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/cpython/baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	failing := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, reason, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if !ok {
			t.Fatalf("baseline.txt has no reason for %s", name)
		}
		failing[name] = reason
	}
	return failing
}

// compareWith checks that the tests in the baseline fail and that all other tests pass.
func compareWith(t *testing.T, failing, ended map[string]string) {
	t.Helper()
	counts := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(ended)) {
		outcome, text, _ := strings.Cut(ended[name], " ")
		counts[outcome]++
		reason, known := failing[name]
		switch {
		case outcome == "failed" && !known:
			t.Errorf("%s fails: %s", name, text)
		case outcome != "failed" && known:
			t.Errorf("%s %s; baseline.txt says that it fails: %s", name, outcome, reason)
		}
	}
	t.Logf("%d passed, %d failed as known, %d skipped", counts["passed"], counts["failed"], counts["skipped"])
}
