package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMetricsAreDocumented checks that docs/reference/metrics.md lists the metrics in the source
// code.
func TestMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../host/server/telemetry/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("serve_*.go")
	if err != nil {
		t.Fatal(err)
	}
	name, found := regexp.MustCompile(`"(toolrun_[a-z_]+)"`), 0
	known := map[string]bool{}
	for _, file := range append(files, own...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range name.FindAllSubmatch(text, -1) {
			found++
			known[string(match[1])] = true
			if !strings.Contains(string(page), "| `"+string(match[1])+"` |") {
				t.Errorf("docs/reference/metrics.md does not list the metric %s", match[1])
			}
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(toolrun_[a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		if !known[row[1]] {
			t.Errorf("docs/reference/metrics.md lists %s, which is not in the sources", row[1])
		}
	}
	if found < 30 {
		t.Errorf("found only %d metrics in the sources", found)
	}
}
