package document

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/mergepatch"
)

// examples returns the rows of a table in docs/reference/memory.md without backquotes. The argument
// is the heading above the table.
func examples(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.SplitSeq(section, "\n") {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(row, "` |"), "` | `"))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("the reference shows %d examples under %q; want at least 3", len(rows), heading)
	}
	return rows
}

// TestDocumentedMerges runs the examples of merges that the documentation contains.
func TestDocumentedMerges(t *testing.T) {
	for _, row := range examples(t, "Merge") {
		got := encode(t, mergepatch.Apply(decode(t, row[0]), decode(t, row[1])))
		if got != row[2] {
			t.Errorf("%s merged into %s = %s; the reference shows %s", row[1], row[0], got, row[2])
		}
	}
}

// TestDocumentedProjections runs the examples of projections that the documentation contains.
func TestDocumentedProjections(t *testing.T) {
	const content = `{"a":{"b":1,"c":2},"d":[{"e":1,"f":2},{"e":3}],"g.h":"x"}`
	page, err := os.ReadFile("../../../docs/reference/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "`"+content+"`") {
		t.Fatalf("the reference does not show the content %s", content)
	}
	for _, row := range examples(t, "Projection") {
		p, err := parseProjection(json.RawMessage(row[0]))
		if err != nil {
			t.Fatalf("parseProjection(%s): %v", row[0], err)
		}
		if got, ok := p.apply(decode(t, content)); !ok || encode(t, got) != row[1] {
			t.Errorf("%s = %s; the reference shows %s", row[0], encode(t, got), row[1])
		}
	}
}
