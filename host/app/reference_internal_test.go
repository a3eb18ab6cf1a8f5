package app

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// documented contains the keys that each section of the reference documentation describes.
var documented = map[string][]string{
	"App": appKeys, "Store": allStoreKeys, "Fact": factKeys, "Blocks": {keyShared, keyLanguage, "core", "archival"}, "Block": blockKeys, "Sleep": sleepKeys, "Tool": toolKeys, "Annotations": annotationKeys, "Approval": approvalKeys, "Limits": limitKeys,
	"Prompt": promptKeys, "Grants": verbWords, "tool.json": {"name", "source"},
	"What `toolrun check` reports": nil,
}

func reference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/app-file.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var firstCell = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$")

// TestReferenceIsComplete checks that docs/reference/app-file.md has one row for each key and no
// empty cells.
func TestReferenceIsComplete(t *testing.T) {
	left := maps.Clone(documented)
	for _, section := range strings.Split(reference(t), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		var keys []string
		for _, row := range firstCell.FindAllStringSubmatch(body, -1) {
			keys = append(keys, row[1])
			for cell := range strings.SplitSeq(row[2], " | ") {
				if strings.TrimSpace(cell) == "" {
					t.Errorf("%s: the row of %s has an empty cell", title, row[1])
				}
			}
		}
		want, known := documented[title]
		if !known {
			t.Errorf("the test does not know the section %q", title)
		}
		if slices.Sort(keys); !slices.Equal(keys, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s explains %q; want %q", title, keys, want)
		}
		delete(left, title)
	}
	for title := range left {
		t.Errorf("docs/reference/app-file.md has no section %s", title)
	}
}

// TestReferenceExample loads the example app at the start of docs/reference/app-file.md.
func TestReferenceExample(t *testing.T) {
	_, rest, _ := strings.Cut(reference(t), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	files := fstest.MapFS{"schemas/visits.json": {Data: []byte(`{"type": "object", "properties": {"count": {"type": "integer"}}}`)}}
	for name, content := range map[string]string{
		FileName: text, "visit.js": "return 1;", "order/main.js": "return 1;",
		"order/tool.json": `{"description": "Order", "grants": {"basket": "readwrite"}}`,
	} {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	if a, problems := Load(files, FileName); !found || a == nil || len(problems) > 0 {
		t.Errorf("the example has problems:\n%v", problems)
	}
}
