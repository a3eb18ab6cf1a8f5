// Package machinetest provides sample machines for tests.
package machinetest

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// project returns the root folder of the project.
func project() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

var sampleHeader = regexp.MustCompile(`^(machine|remember|recall) [a-z_<>]+\n`)

// Samples returns the code blocks of a documentation page of the vendor. The code blocks are in the
// order of the page. If the folder next to the project does not contain the page, Samples skips the
// test.
func Samples(t testing.TB) []string {
	t.Helper()
	blocks := FindSamples(t)
	if blocks == nil {
		t.Skip("the documentation page with the samples is not next to the project")
	}
	return blocks
}

// FindSamples returns the code blocks of the documentation page. If the page does not exist,
// FindSamples returns nil. The stored page has no code fences and no indentation. Therefore each
// paragraph that begins with the header of a step or the header of a machine counts as a code
// block.
func FindSamples(t testing.TB) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(project(), "..", "shared", "seeds", "003_machines_remember_recall.txt"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for paragraph := range strings.SplitSeq(string(page), "\n\n") {
		if block := strings.TrimLeft(paragraph, "\n") + "\n"; sampleHeader.MatchString(block) {
			blocks = append(blocks, block)
		}
	}
	if len(blocks) != 7 {
		t.Fatalf("the page has %d code blocks; want 7", len(blocks))
	}
	return blocks
}
