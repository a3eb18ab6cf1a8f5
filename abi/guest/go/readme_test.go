package toolrun_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadme looks for the Go of README.md in the example that it shows, so that it is known to work.
func TestReadme(t *testing.T) {
	const example = "../../../plugins/examples/hit_counter_go/"
	var sources string
	for _, file := range []string{example + "main.go", example + "main_test.go", "toolslog/doc.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources += strings.ReplaceAll(string(text), "//\tfunc init", "func init") // in a doc comment
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("README.md shows no Go")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(sources, code) {
			t.Errorf("README.md shows what is in no source:\n%s", code)
		}
	}
}
