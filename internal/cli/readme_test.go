package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/cli"
)

// root is the folder of the project.
const root = "../.."

// block is a part of a document that stands between fences.
type block struct{ language, text string }

// blocks returns the blocks of README.md from a heading to the next one; "" is its beginning.
func blocks(t *testing.T, heading string) []block {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), heading)
	if !found {
		t.Fatalf("README.md has no %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var all []block
	for i, part := range strings.Split(section, "```") {
		if language, text, _ := strings.Cut(part, "\n"); i%2 == 1 {
			all = append(all, block{language, text})
		}
	}
	return all
}

// runBlock runs the commands of a console block that begin with a prompt, one after the other, and compares what
// each prints with what stands below it.
func runBlock(t *testing.T, dir, prompt, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n"+prompt)[1:] {
		line, want, _ := strings.Cut(part, "\n")
		var out bytes.Buffer
		cli.Main(context.Background(), cli.Env{Args: words(line), Stdout: &out, Stderr: &out, Dir: dir})
		if got := strings.TrimSpace(out.String()); got != strings.TrimSpace(want) {
			t.Errorf("%s%s\nprints:\n%s\nREADME.md says:\n%s", prompt, line, got, want)
		}
	}
}

// words splits a command line as a shell does that knows single quotes alone.
func words(line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

// TestReadmeTwoMinutes saves the files that README.md shows and runs its commands.
func TestReadmeTwoMinutes(t *testing.T) {
	dir, commands := t.TempDir(), 0
	files := map[string]string{"yaml": "app.yaml", "js": "visit.js"}
	for _, b := range blocks(t, "## Two minutes") {
		if name := files[b.language]; name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		commands += strings.Count(b.text, "$ toolrun ")
		runBlock(t, dir, "$ toolrun ", b.text)
	}
	if commands == 0 {
		t.Error("README.md shows no command")
	}
}

// TestReadmeBegins runs the first command in a copy of the examples, without what runs have left there.
func TestReadmeBegins(t *testing.T) {
	dir, examples := t.TempDir(), filepath.Join("plugins", "examples")
	if err := os.CopyFS(filepath.Join(dir, examples), os.DirFS(filepath.Join(root, examples))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, examples, ".toolrun")); err != nil {
		t.Fatal(err)
	}
	const prompt = "$ go run ./cmd/toolrun "
	first := blocks(t, "")[0]
	if !strings.HasPrefix(first.text, prompt) {
		t.Fatalf("README.md begins with %q; want a command of toolrun", first.text)
	}
	runBlock(t, dir, prompt, first.text)
}

// TestReadmeGo looks for what README.md shows of Go in the example that it is from.
func TestReadmeGo(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, "host", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	shown := blocks(t, "## In Go")
	if len(shown) == 0 || shown[0].language != "go" || !strings.Contains(string(example), "\n"+shown[0].text) {
		t.Errorf("README.md shows what is not in host/example_test.go:\n%v", shown)
	}
}

// TestIsolationGo looks for the function that docs/isolation.md shows in the example that it is from.
func TestIsolationGo(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, "host", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "isolation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\nfunc ")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(example), "\nfunc "+shown) {
		t.Errorf("docs/isolation.md shows what is not in host/example_test.go:\nfunc %s", shown)
	}
}

// TestReadmeQuotesThePlugin holds the function that README.md shows to the example it is from.
func TestReadmeQuotesThePlugin(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "plugins", "examples", "hit_counter_go", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(t, "## In any language") {
		if b.language == "go" && !strings.Contains(string(source), b.text) {
			t.Errorf("hit_counter_go/main.go does not hold what README.md shows:\n%s", b.text)
		}
	}
}
