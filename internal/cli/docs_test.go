package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

// root is the root folder of the project.
const root = "../.."

var update = flag.Bool("update", false, "write the pages that are made from the commands")

// TestReferenceOfCommands checks that docs/reference/cli.md is equal to the page that is generated
// from the commands.
func TestReferenceOfCommands(t *testing.T) {
	var out, stderr bytes.Buffer
	exit := cli.Main(t.Context(), cli.Env{Args: []string{"docs"}, Stdout: &out, Stderr: &stderr, Dir: t.TempDir()})
	if exit != exitcode.Done {
		t.Fatalf("toolrun docs exits with %d: %s", exit, stderr.String())
	}
	if n := strings.Count(out.String(), "\n## toolrun "); n < 15 {
		t.Errorf("the page has %d commands; want all", n)
	}
	page := filepath.Join(root, "docs", "reference", "cli.md")
	if *update {
		if err := os.WriteFile(page, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, out.Bytes()) {
		t.Error("docs/reference/cli.md is stale: go test ./internal/cli -run ReferenceOfCommands -update")
	}
}

// TestReferenceOfJavaScript runs each example of docs/reference/javascript.md as a tool.
func TestReferenceOfJavaScript(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "javascript.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, run := t.TempDir(), 0
	const app = "app: docs\nmemory:\n  prefs: {access: user}\ntools:\n  example:\n    source: example.js\n" +
		"    description: An example\n    grants: {prefs: readwrite}\n" +
		"    inputSchema: {type: object, properties: {name: {type: string}, language: {type: string}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(page), "```") {
		code, ok := strings.CutPrefix(part, "js\n")
		if i%2 == 0 || !ok {
			continue
		}
		run++
		if err := os.WriteFile(filepath.Join(dir, "example.js"), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"check"}, {"run", "example", "name=Ann", "language=fr", "--user", "ann"}} {
			var out bytes.Buffer
			if exit := cli.Main(t.Context(), cli.Env{Args: args, Dir: dir, Stdout: &out, Stderr: &out}); exit != exitcode.Done {
				t.Errorf("%s of this example exits with %d: %s\n%s", args[0], exit, out.String(), code)
			}
		}
	}
	if run < 5 {
		t.Errorf("the page has %d examples; want all forms", run)
	}
}
