package docs

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

// notRun contains, for each page, the number of blocks that a test cannot execute. For each of
// these blocks, the page contains the reason.
var notRun = map[string]int{
	"README.md":                        1, // make test
	"docs/explanation/isolation.md":    1, // tested by host/sandbox
	"docs/explanation/performance.md":  2, // benchmarks
	"docs/reference/mcp.md":            2, // a download
	"docs/howto/run-behind-a-proxy.md": 1, // a configuration of nginx
	"docs/howto/free-disk-space.md":    1, // a configuration of Prometheus
	"docs/howto/use-models-in-go.md":   1, // a provider of models
	"docs/howto/use-postgresql.md":     2, // a database server
	"docs/tutorials/embed-in-go.md":    1, // docs/embedding tests these requests
	"docs/tutorials/python.md":         1, // a download
}

// elsewhere lists the pages that TestPages does not execute, each with the name of the test that
// checks the page.
var elsewhere = map[string]string{
	"docs/reference/app-file.md":   "host/app: TestReferenceExample",
	"docs/reference/cli.md":        "internal/cli: TestReferenceOfCommands",
	"docs/reference/double.md":     "internal/double: TestDocumentation",
	"docs/reference/javascript.md": "internal/cli: TestReferenceOfJavaScript",
}

// pages returns the paths of the executed pages. The paths have forward slashes.
func pages(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md"}
	for _, folder := range []string{"tutorials", "howto", "reference", "explanation"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages in %s: %v", folder, err)
		}
		for _, name := range found {
			if name := "docs/" + filepath.ToSlash(name); elsewhere[name] == "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestPages executes the pages. The test needs the same programs as a reader who follows the pages:
// bash, curl, jq and Go.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the tutorials, which takes a minute")
	}
	for _, tool := range []string{"bash", "curl", "jq", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the pages need %s: %v", tool, err)
		}
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, "toolrun"), "../cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, page := range pages(t) {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			var env []string
			if strings.Contains(page, "python") || page == "docs/tutorials/service.md" || page == "docs/howto/read-uploaded-files.md" {
				env = append(env, disttest.Variable+"="+disttest.File(t))
			}
			follow(t, page, bin, env)
		})
	}
}

// TestBlocksNotRun counts the blocks that no test executes.
func TestBlocksNotRun(t *testing.T) {
	for _, page := range pages(t) {
		count := 0
		for _, s := range readPage(t, page) {
			if s.mark == "not run" {
				count++
			}
		}
		if count != notRun[page] {
			t.Errorf("%s has %d blocks that are not run; notRun has %d", page, count, notRun[page])
		}
	}
}

func TestParsePage(t *testing.T) {
	const text = "# A page\n\n<!-- file: a.js -->\n```js\nlet a;\n```\n\n<!-- run: ls -->\n\ntext\n\n```console\n$ one \\\n    two\n$ curl -d '{\n}' x\nout\n\nmore\n```\n"
	steps, err := parsePage(text)
	if err != nil || len(steps) != 3 {
		t.Fatalf("parsePage = %+v, %v; want three steps", steps, err)
	}
	if s := steps[0]; s.mark != "file" || s.argument != "a.js" || s.language != "js" || s.text != "let a;\n" {
		t.Errorf("the first step is %+v", s)
	}
	if s := steps[1]; s.mark != "run" || s.argument != "ls" {
		t.Errorf("the second step is %+v", s)
	}
	want := []command{{13, "one \\\n    two", ""}, {15, "curl -d '{\n}' x", "out\n\nmore\n"}}
	if got := steps[2].commands(); !slices.Equal(got, want) {
		t.Errorf("the commands are %+v; want %+v", got, want)
	}
	for _, bad := range []string{"<!-- file: a -->\ntext\n", "<!-- file: a -->\n", "```js\nlet a;\n"} {
		if _, err := parsePage(bad); err == nil {
			t.Errorf("parsePage(%q) = nil; want an error", bad)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		ok        bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\nc\nd\n", "a\n...\nd\n", true},
		{"a\nd\n", "a\n...\nd\n", true},
		{"a\n", "b\n", false},
		{"a\nb\n", "a\n", false},
		{"a.c\n", "abc\n", false},
		{"run: run_01KF8Z3NDEKTSV4RRFFQ69G5FA", "run: run_01KF8Z41W7TSV4RRFFQ69G5FA0", true},
		{"", "a", false},
	} {
		if ok := matches(tt.got, tt.want); ok != tt.ok {
			t.Errorf("matches(%q, %q) = %v", tt.got, tt.want, ok)
		}
	}
}
