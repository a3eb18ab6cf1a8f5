package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
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

var runID = regexp.MustCompile(`run_[0-9A-Z]{26}`)

// withoutIDs returns a text with one id in the place of all ids of runs.
func withoutIDs(text string) string {
	return runID.ReplaceAllString(strings.TrimSpace(text), "run_ID")
}

// runBlock runs the commands of a console block that begin with a prompt, one after the other, and compares what
// each prints with what stands below it. That is stdout, and stderr where env has none.
func runBlock(t *testing.T, env cli.Env, prompt, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n"+prompt)[1:] {
		line, want, _ := strings.Cut(part, "\n")
		var out bytes.Buffer
		env := env
		env.Args, env.Stdout = words(line), &out
		if env.Stderr == nil {
			env.Stderr = &out
		}
		cli.Main(t.Context(), env)
		if got := withoutIDs(out.String()); got != withoutIDs(want) {
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

// runSection saves the files that a section of README.md shows, by their languages, and runs its commands.
func runSection(t *testing.T, env cli.Env, heading string, files map[string]string) {
	t.Helper()
	commands := 0
	env.Dir = t.TempDir()
	for _, b := range blocks(t, heading) {
		if name := files[b.language]; name != "" {
			if err := os.WriteFile(filepath.Join(env.Dir, name), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		commands += strings.Count(b.text, "$ toolrun ")
		runBlock(t, env, "$ toolrun ", b.text)
	}
	if commands == 0 {
		t.Errorf("%q of README.md shows no command", heading)
	}
}

func TestReadmeTwoMinutes(t *testing.T) {
	runSection(t, cli.Env{}, "## Two minutes", map[string]string{"yaml": "app.yaml", "js": "visit.js"})
}

// TestReadmePython has the interpreter compiled first, which takes longer than a run may.
func TestReadmePython(t *testing.T) {
	if testing.Short() {
		t.Skip("it may compile the interpreter, which takes half a minute")
	}
	file := disttest.File(t)
	cache, err := os.UserCacheDir() // where the command keeps the compiled interpreter
	if err != nil {
		t.Skipf("this user has no folder for caches: %v", err)
	}
	cache = filepath.Join(cache, "toolrun")
	compilePython(t, file, filepath.Join(cache, "cells"))
	env := cli.Env{CacheDir: cache, Stderr: t.Output(), Getenv: func(name string) string {
		return map[string]string{disttest.Variable: file}[name]
	}}
	runSection(t, env, "## In Python", map[string]string{"yaml": "app.yaml", "python": "remember.py"})
}

func compilePython(t *testing.T, file, cache string) {
	t.Helper()
	pool, err := engines.NewPool(sandbox.Options{CacheDir: cache, Spares: -1}, engines.WithPython(file))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, e := range pool.Engines() {
		if !slices.Contains(e.Info().Extensions, ".py") {
			continue
		}
		program, err := e.Load(t.Context(), engine.Source{Path: "ready.py", Code: []byte("return True\n")})
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Close(); err != nil {
			t.Error(err)
		}
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
	runBlock(t, cli.Env{Dir: dir}, prompt, first.text)
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

// TestSchedulingGo looks for the function that docs/explanation/scheduling.md shows in the example that it is from.
func TestSchedulingGo(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, "host", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "explanation", "scheduling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\nfunc ")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(example), "\nfunc "+shown) {
		t.Errorf("docs/explanation/scheduling.md shows what is not in host/example_test.go:\nfunc %s", shown)
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
