//go:build linux

package sandbox_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/sandbox"
)

// TestDocumentedLayers checks the documented output of the command "toolrun doctor". The documented
// output must contain all layers of a Report in the order of the Report. The documented texts must
// equal the texts of the Report. Only the versions of the kernel can differ.
func TestDocumentedLayers(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/isolation.md")
	if err != nil {
		t.Fatal(err)
	}
	report, err := newPool(t, sandbox.Options{}).Report()
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^on +(\w+) +(.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(shown) != len(report.Layers) {
		t.Fatalf("docs/explanation/isolation.md shows %d layers; want %d", len(shown), len(report.Layers))
	}
	versions := regexp.MustCompile(` \((ABI|version) [^)]*\)`)
	plain := func(s string) string { return strings.TrimSpace(versions.ReplaceAllString(s, "")) }
	for i, l := range report.Layers {
		if shown[i][1] != l.Name || l.On && plain(shown[i][2]) != plain(l.Detail) {
			t.Errorf("docs/explanation/isolation.md shows %s: %s; want %s: %s", shown[i][1], plain(shown[i][2]), l.Name, plain(l.Detail))
		}
	}
}
