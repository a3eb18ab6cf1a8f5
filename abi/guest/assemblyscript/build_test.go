// Package assemblyscript_test tests the AssemblyScript binding in Node.js and with the committed
// plug-ins.
package assemblyscript_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// TestNode installs the compiler from package-lock.json and runs the JavaScript tests. TestNode
// also rebuilds each committed AssemblyScript plug-in with the command in its toolchain.txt. The
// rebuilt plug-in must equal the committed plug-in.
func TestNode(t *testing.T) {
	workspace := install(t)
	node := tool(t, "node")

	t.Run("tests", func(t *testing.T) { nodeTest(t, node, filepath.Join(workspace, "package"), "test/") })
	t.Run("probe", func(t *testing.T) { rebuild(t, node, workspace, "probe", filepath.Join(workspace, "package")) })

	t.Run("model", func(t *testing.T) { // a plug-in in the test data of package host
		dir := filepath.Join(workspace, "chat_as")
		if err := copyFolder(dir, "../../../host/testdata/chat_as"); err != nil {
			t.Fatal(err)
		}
		rebuild(t, node, workspace, ".", dir)
	})
	t.Run("README", func(t *testing.T) { readme(t, node, workspace) })

	examples, err := filepath.Glob("../../../plugins/examples/*_as")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		name := filepath.Base(example)
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(workspace, name)
			if err := copyFolder(dir, example); err != nil {
				t.Fatal(err)
			}
			nodeTest(t, node, dir, "test.mjs")
			rebuild(t, node, workspace, ".", dir)
		})
	}
}

// TestFaults checks that the enum of fault codes matches package abi.
func TestFaults(t *testing.T) {
	source, err := os.ReadFile("memory.ts")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^  (\w+) = (\d+),`).FindAllStringSubmatch(string(source), -1) {
		got[strings.ToLower(match[1])], _ = strconv.Atoi(match[2])
	}
	for _, code := range abi.Codes() {
		name := strings.ReplaceAll(string(code), "_", "")
		if got[name] != code.Number() {
			t.Errorf("Fault has %s = %d; want %d", name, got[name], code.Number())
		}
	}
	if want := len(abi.Codes()) + 1; len(got) != want { // the enum also has None
		t.Errorf("Fault has %d faults; want %d", len(got), want)
	}
}

// readme builds the tool that the README shows, and runs the test that the README shows.
func readme(t *testing.T, node, workspace string) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(workspace, "readme")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct{ language, name string }{{"ts", "main.ts"}, {"json", "asconfig.json"}, {"js", "test.mjs"}} {
		_, rest, _ := strings.Cut(string(text), "```"+file.language+"\n")
		source, _, found := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("README.md contains no %s", file.name)
		}
		if err := os.WriteFile(filepath.Join(dir, file.name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compile(t, node, workspace, dir, "main.ts", "-o", "main.wasm")
	nodeTest(t, node, dir, "test.mjs")
}

// compile runs the AssemblyScript compiler in a folder.
func compile(t *testing.T, node, workspace, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(node, append([]string{filepath.Join(workspace, "package/node_modules/assemblyscript/bin/asc.js")}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("asc: %v\n%s", err, out)
	}
}

func nodeTest(t *testing.T, node, dir, tests string) {
	t.Helper()
	cmd := exec.Command(node, "--test", tests)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("node --test %s: %v\n%s", tests, err, out)
	}
}

// rebuild runs the build command of a folder's toolchain.txt. Then rebuild compares the built
// plug-in with the committed plug-in.
func rebuild(t *testing.T, node, workspace, folder, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, folder, "toolchain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	compiler, command, _ := strings.Cut(strings.TrimSpace(string(text)), "\n$ asc ")
	args := strings.Fields(command)
	if len(args) < 2 || args[len(args)-2] != "-o" {
		t.Fatalf("toolchain.txt = %q; want a compiler and a command that ends with -o and a file", text)
	}
	if want := "assemblyscript " + installed(t); compiler != want {
		t.Errorf("toolchain.txt names %s; package.json has %s", compiler, want)
	}
	output := filepath.Join(dir, args[len(args)-1])
	want, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(output); err != nil {
		t.Fatal(err)
	}
	compile(t, node, workspace, dir, args...)
	got, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: it has %d bytes; its source and toolchain.txt build %d", filepath.Base(output), len(want), len(got))
	}
}

// installed returns the compiler version that package.json requires.
func installed(t *testing.T) string {
	t.Helper()
	manifest, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`"assemblyscript": "([0-9.]+)"`).FindSubmatch(manifest)
	if match == nil {
		t.Fatal("package.json does not pin assemblyscript")
	}
	return string(match[1])
}

// install creates a temporary workspace. The folder "package" of the workspace contains the binding
// and the compiler. The folder node_modules of the workspace makes the binding available to
// plug-ins in other folders.
func install(t *testing.T) string {
	t.Helper()
	npm := tool(t, "npm")
	workspace := t.TempDir()
	if err := copyFolder(filepath.Join(workspace, "package"), "."); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(workspace, "node_modules/@toolrun"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../package", filepath.Join(workspace, "node_modules/@toolrun/assemblyscript")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000") // by default, npm retries for over a minute
	cmd.Dir = filepath.Join(workspace, "package")
	out, err := cmd.CombinedOutput()
	if code := unreachable.Find(out); err != nil && code != nil {
		t.Skip("npm cannot reach its registry: " + string(code))
	}
	if err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return workspace
}

// unreachable matches npm's error codes for an unreachable registry.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH`)

// copyFolder copies a folder except node_modules.
func copyFolder(to, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o700)
		}
		content, err := os.ReadFile(filepath.Join(from, path))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), content, 0o600)
	})
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}
