package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// TestDocumentedSample runs the unmodified sample from the vendor's documentation.
func TestDocumentedSample(t *testing.T) {
	const name = "004_agentic_apps_memory_stores.txt"
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "seeds", name))
	if err != nil {
		t.Skipf("the documentation page with the sample is not in shared/seeds: %s", name)
	}
	_, sample, found := strings.Cut(string(page), "```python")
	if !found {
		t.Fatal("the page has no sample in Python")
	}
	_, sample, _ = strings.Cut(sample, "\n") // the rest of the line follows the language
	sample, _, _ = strings.Cut(sample, "```")

	e := sharedEngine(t)
	m := enginetest.NewMemory(nil)
	for _, code := range []string{`memory.set_content("userPrefs", {"preferences": {"language": "en"}})`, sample} {
		p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Run(t.Context(), engine.Input{}, m.Host()); err != nil {
			t.Fatalf("%v\n%s", err, code)
		}
	}
	var ops []string
	for _, call := range m.Calls()[1:] {
		ops = append(ops, call.Op)
	}
	if got, want := strings.Join(ops, " "), strings.Join([]string{abi.GetContent, abi.GetContent, abi.SetContent, abi.DeleteContent}, " "); got != want {
		t.Errorf("calls = %s; want %s", got, want)
	}
	if logs := m.Logs(); len(logs) != 1 || logs[0].Text != "en" {
		t.Errorf("logs = %v; want en", logs)
	}
}
