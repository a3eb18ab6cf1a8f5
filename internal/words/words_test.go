package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// root is the root of the repository.
const root = "../.."

const budgetFile = "testdata/budget.txt"

var update = flag.Bool("update", false, "lower the budget to the findings in the tree")

// TestBudget checks that no folder has more findings of a rule than its budget.
func TestBudget(t *testing.T) {
	text, err := os.ReadFile(budgetFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	b, err := parseBudget(string(text))
	if err != nil {
		t.Fatalf("%s: %v", budgetFile, err)
	}
	found, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		next, err := b.lowered(found)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(budgetFile, []byte(next.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		b = next
	}
	for _, message := range b.exceeded(found) {
		t.Error(message)
	}
}

// TestLinks checks the links of all pages, and the references to pages in other files.
func TestLinks(t *testing.T) {
	files, err := sourceFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range brokenLinks(root, files) {
		t.Error(message)
	}
}

// TestPagesAreReachable checks that every page can be reached from the documentation index in two
// clicks.
func TestPagesAreReachable(t *testing.T) {
	files, err := sourceFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pagesOf(files).distant("docs/README.md", 2) {
		t.Errorf("%s cannot be reached from docs/README.md in two clicks", name)
	}
}

func TestPhrases(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"// Reply tells what was read.\n", []string{"told 1"}},
		{"what was read is\n// told to the caller\n", []string{"told 2"}},
		{"// a guest is no caller\n", []string{"is-no 1"}},
		{"the lines are\n# no part of it\n", []string{"is-no 1"}},
		{"a store is missing; it is no longer used; there are\nno records; was no more than that", nil},
		{"if there\n// is no store", []string{"there-is-no 1"}},
		{"// Ends are those that a record has.\n", []string{"pronoun 1"}},
		{"\t// tx.held is what a run holds.\n", []string{"pronoun 1"}},
		{"// It is known that a file is whole.\n", nil},
		{"on this machine alone", []string{"alone 1"}},
		{"a standalone program", nil},
		{"Whoever sends it, and nobody else\n", []string{"nobody 1", "nobody 1"}},
		{"a file beside it; besides, another", []string{"beside 1"}},
		{"longer than it\nmay take, whose turn it is", []string{"relation 2", "relation 2"}},
	} {
		var got []string
		for _, p := range phrases {
			for _, f := range p.find(sourceFile{"a.go", tt.text}) {
				got = append(got, f.rule+" "+string(rune('0'+f.line)))
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("the findings in %q are %q; want %q", tt.text, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	text := `package memory
type turns struct{ Committed int }
func f(lone bool) { asked, _ := 1, lone; for told := range asked { _ = told } }
`
	for _, tt := range []struct {
		file string
		want []string
	}{
		{"host/memory/a.go", []string{"the name turns", "the name Committed", "the name lone", "the name asked", "the name told"}},
		{"schema/a.go", []string{"the name Committed", "the name lone", "the name asked", "the name told"}},
		{"host/memory/turns.go", []string{"the file turns.go", "the name turns", "the name Committed", "the name lone", "the name asked", "the name told"}},
		{"host/cell/a.md", []string{"the folder host/cell"}},
		{"host/cells/a.md", nil},
	} {
		found, err := findNames(sourceFile{tt.file, text})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.text)
			if f.use == "" {
				t.Errorf("%s: no replacement for %s", tt.file, f.text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("the findings in %s are %q; want %q", tt.file, got, tt.want)
		}
	}
}

func TestBudgetOnlyShrinks(t *testing.T) {
	b, err := parseBudget("docs told 2 # quotes an error\nhost/memory told 1\n")
	if err != nil {
		t.Fatal(err)
	}
	in := func(files ...string) (found []finding) {
		for _, file := range files {
			found = append(found, finding{rule: "told", file: file, line: 3, text: "x tells y", use: "x reports y"})
		}
		return found
	}
	if messages := b.exceeded(in("docs/a.md", "docs/b.md", "host/memory/a.go")); messages != nil {
		t.Errorf("a tree within its budget has the messages %q", messages)
	}
	messages := b.exceeded(in("docs/a.md", "host/memory/a.go", "host/memory/kind/b.go"))
	if len(messages) != 1 || !strings.Contains(messages[0], "host/memory/kind/b.go:3: told: x tells y\n\twrite: x reports y") {
		t.Errorf("a tree over its budget has the messages %q; want the lines and the replacement", messages)
	}
	if next, err := b.lowered(in("docs/a.md")); err != nil || next.String() != "docs told 1 # quotes an error\n" {
		t.Errorf("the lowered budget = %q, %v; want the reason, and no line without findings", next, err)
	}
	if _, err := b.lowered(in("host/a.go", "host/b.go", "host/memory/c.go")); err != nil {
		t.Errorf("findings that moved to another folder: %v", err)
	}
	if _, err := b.lowered(in("a.go", "a.go", "a.go", "a.go")); err == nil {
		t.Error("the budget can grow")
	}
	for _, bad := range []string{"docs told", "docs talked 1", "docs told 0", "docs told many", "docs told 1\ndocs told 2"} {
		if _, err := parseBudget(bad); err == nil {
			t.Errorf("parseBudget(%q) = nil; want an error", bad)
		}
	}
}

func TestFolderOf(t *testing.T) {
	for file, want := range map[string]string{
		"README.md": ".", "docs/howto/a.md": "docs/howto", "host/run.go": "host", "host/memory/kind/kind.go": "host/memory",
		"host/engine/js/internal/intl/a.go": "host/engine/js", "host/engine/cause.go": "host/engine", "abi/guest/go/call.go": "abi/guest",
	} {
		if got := folderOf(file); got != want {
			t.Errorf("folderOf(%s) = %s; want %s", file, got, want)
		}
	}
}
