package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/cli"
	"github.com/toolrun/toolrun/internal/double/doubletest"
)

// cacheDir is the cache folder for compiled plug-ins and the compiled Python interpreter. If
// possible, cacheDir is the cache folder of the toolrun command, because compiling the interpreter
// takes many seconds.
var cacheDir string

func TestMain(m *testing.M) {
	engines.Main()
	doubletest.Main()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runTests runs the tests and removes their temporary folders.
func runTests(m *testing.M) (code int, err error) {
	temporary, err := os.MkdirTemp("", "examples")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(temporary)
	packages.dir = filepath.Join(temporary, "npm")
	if err := os.Mkdir(packages.dir, 0o700); err != nil {
		return 1, err
	}
	cacheDir = filepath.Join(temporary, "cache")
	if dir, err := os.UserCacheDir(); err == nil {
		cacheDir = filepath.Join(dir, "toolrun")
	}
	return m.Run(), nil
}

// TestScripts runs the script of each tool in a copy of the examples.
func TestScripts(t *testing.T) {
	for _, tool := range tools(t) {
		t.Run(tool, func(t *testing.T) {
			source := copyExamples(t, tool)
			testscript.Run(t, testscript.Params{
				Files: []string{filepath.Join(tool, "script.txtar")},
				Cmds:  map[string]func(*testscript.TestScript, bool, []string){"toolrun": runInScript},
				Setup: func(env *testscript.Env) error {
					env.Cd = filepath.Join(env.WorkDir, "examples")
					return os.CopyFS(env.Cd, os.DirFS(source))
				},
			})
		})
	}
}

// runInScript implements the command toolrun for scripts. runInScript runs the command in this
// process, because with the race detector a separate process takes a second to exit.
func runInScript(ts *testscript.TestScript, neg bool, args []string) {
	exit := cli.Main(context.Background(), cli.Env{
		Args: args, Stdout: ts.Stdout(), Stderr: ts.Stderr(), Dir: ts.MkAbs("."), CacheDir: cacheDir, Getenv: getenv,
	})
	if failed := exit != 0; failed != neg {
		ts.Fatalf("toolrun ended with exit code %d", exit)
	}
}

// TestCheck checks that toolrun check reports no errors and no warnings for the examples.
func TestCheck(t *testing.T) {
	const want = "app.yaml: 9 stores, 20 tools, 2 prompts; no problems\n"
	needRuntime(t)
	if got := toolrun(t, copyExamples(t, npmTool), "check"); got != want {
		t.Errorf("toolrun check prints:\n%s\nwant:\n%s", got, want)
	}
}

// TestReadmeListsTools checks that the table in README.md has a row for each tool.
func TestReadmeListsTools(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools(t) {
		if row := fmt.Sprintf("\n| [%s](%s) |", tool, tool); !strings.Contains(string(readme), row) {
			t.Errorf("README.md has no row for %s", tool)
		}
	}
}

// TestHitsAreNotLost runs the hit counters many times concurrently on the same store.
func TestHitsAreNotLost(t *testing.T) {
	loaded, problems := app.Load(os.DirFS("."), app.FileName)
	if loaded == nil {
		t.Fatal(problems)
	}
	h, err := host.Open(context.Background(), host.Options{
		App: loaded, Backend: mem.New(), Engines: []engine.Engine{js.New(), wasm.New(wasm.WithCache(cacheDir))}, SweepEvery: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const runs = 25
	var all sync.WaitGroup
	for i := range runs {
		tool := []string{"hit_counter", "hit_counter_go"}[i%2]
		all.Go(func() {
			_, err := h.Run(context.Background(), host.Invocation{Tool: tool, Input: json.RawMessage(`{"page":"/home"}`)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"pageHits"`)}}
	want := fmt.Sprintf(`{"pages":{"/home":%d}}`, runs)
	if got, _, err := h.Stores().Do(context.Background(), host.Caller{}, memory.Operator(), call); err != nil || string(got) != want {
		t.Errorf("content = %s, %v; want %s", got, err, want)
	}
}

// tools returns the folders of the tools.
func tools(t *testing.T) []string {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join("*", app.ManifestName))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no tools: %v, %v", manifests, err)
	}
	for i, m := range manifests {
		manifests[i] = filepath.Dir(m)
	}
	return manifests
}

// npmTool is the name of the tool that imports an npm package.
const npmTool = "order_history"

// copyExamples copies the examples to a temporary folder, in which runs can create a database.
// copyExamples does not copy installed packages. copyExamples installs the package for npmTool, and
// the interpreter for Python tools. If npm is missing, copyExamples skips the test.
func copyExamples(t *testing.T, tool string) string {
	t.Helper()
	dir := t.TempDir()
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "node_modules" || entry.Name() == "__pycache__" || entry.Name() == ".toolrun":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(dir, path), 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if tool == npmTool {
		if err := os.CopyFS(filepath.Join(dir, npmTool, "node_modules"), os.DirFS(installPackages(t))); err != nil {
			t.Fatal(err)
		}
	}
	if isPython(tool) {
		needRuntime(t)
	}
	return dir
}

// unreachable lists npm's error codes for an unreachable registry.
var unreachable = []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"}

// installPackages returns the folder node_modules with the packages of npmTool, which it installs
// once for all tests.
func installPackages(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed")
	}
	packages.once.Do(func() {
		for _, name := range []string{"package.json", "package-lock.json"} {
			content, err := os.ReadFile(filepath.Join(npmTool, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(packages.dir, name), content, 0o600)
			}
			packages.err = errors.Join(packages.err, err)
		}
		if packages.err != nil {
			return
		}
		cmd := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
			"--fetch-retries=1", "--fetch-retry-mintimeout=1000") // by default npm retries for over a minute
		cmd.Dir = packages.dir
		packages.output, packages.err = cmd.CombinedOutput()
	})
	if packages.err == nil {
		return filepath.Join(packages.dir, "node_modules")
	}
	for _, code := range unreachable {
		if bytes.Contains(packages.output, []byte(code)) {
			t.Skip("npm cannot reach its registry: " + code)
		}
	}
	t.Fatalf("npm ci: %v\n%s", packages.err, packages.output)
	return ""
}

// packages contains the installation of the packages of npmTool. TestMain creates and removes the
// folder.
var packages struct {
	once   sync.Once
	dir    string
	output []byte
	err    error
}
