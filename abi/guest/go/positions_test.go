package toolrun_test

import (
	"os"
	"strings"
	"testing"

	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

// The tools of TestPositions.

func get(struct{}) (any, error) {
	_, err := toolrun.GetContent("hidden", nil) // line of the fault
	return nil, err
}

func paint(struct{}) (any, error) { return brush(1), nil }

func brush(n int) int {
	if n > 0 {
		panic("no paint") // line of the panic
	}
	return n
}

func repeat(struct{}) (any, error) {
	return strings.Repeat("x", -1), nil // line of the repetition
}

// lineOf returns the number of the line of a file that contains text.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), text)
	if !found {
		t.Fatalf("%s has no %q", file, text)
	}
	return strings.Count(before, "\n") + 1
}
