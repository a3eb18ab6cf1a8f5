package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/server/auth"
)

const apiPage = "../../../docs/reference/http-api.md"

// endpoints returns the table of operations in the committed OpenAPI document.
func endpoints(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]struct{ Summary string }
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| request | does |\n| --- | --- |\n")
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			fmt.Fprintf(&table, "| `%s %s` | %s |\n", strings.ToUpper(method), path, api.Paths[path][method].Summary)
		}
	}
	return table.String()
}

// TestReferenceTables compares the tables of permissions and operations in
// docs/reference/http-api.md with the code.
func TestReferenceTables(t *testing.T) {
	content, err := os.ReadFile(apiPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for name, table := range map[string]string{"permissions": auth.Markdown(), "endpoints": endpoints(t)} {
		start, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(page, start)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no section %s", apiPage, name)
		}
		page = before + start + table + end + after
	}
	if page == string(content) {
		return
	}
	if !*update {
		t.Fatal("docs/reference/http-api.md is outdated: run go test ./host/server/httpapi -run 'OpenAPI|ReferenceTables' -update")
	}
	if err := os.WriteFile(apiPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}
