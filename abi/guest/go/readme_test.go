package toolrun_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadme checks that all Go code in README.md is also in an example test.
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
		t.Fatal("README.md contains no Go code")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(sources, code) {
			t.Errorf("README.md contains code that is not in an example:\n%s", code)
		}
	}
}
