package abl_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// samplePages lists documentation pages of the vendor. For each page, it contains the number of
// samples.
var samplePages = []struct {
	file    string
	samples int
}{
	{"000_abl_memory_and_constraints.txt", 24},
	{"001_abl_memory_and_state.txt", 24},
}

// sample is a code block of a page.
type sample struct {
	name string
	text string
}

// readSamples returns the code blocks of all pages. The blocks are not changed.
func readSamples(t testing.TB) []sample {
	t.Helper()
	var samples []sample
	for _, page := range samplePages {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "seeds", page.file))
		if err != nil {
			t.Skipf("the documentation page with the samples is not in shared/seeds: %s", page.file)
		}
		blocks := strings.Split(string(text), "```yaml theme={null}\n")[1:]
		if len(blocks) != page.samples {
			t.Fatalf("%s has %d samples; want %d", page.file, len(blocks), page.samples)
		}
		for i, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			samples = append(samples, sample{fmt.Sprintf("%s %d", page.file[:3], i+1), block})
		}
	}
	return samples
}

// TestSamples parses every sample in the vendor's documentation. TestSamples compares the parsed
// documents with a golden file. The samples must not contain errors.
func TestSamples(t *testing.T) {
	var b strings.Builder
	for _, s := range readSamples(t) {
		d, problems := abl.ParseFragment(s.name, []byte(s.text))
		if err := problems.Err(); err != nil {
			t.Errorf("%s\n%v", s.text, err)
		}
		fmt.Fprintf(&b, "== %s\n%s", s.name, dump(d))
		for _, p := range problems {
			b.WriteString(p.String() + "\n")
		}
	}
	compareGolden(t, "samples.golden", b.String())
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	wantLines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Fatalf("%s:%d: the parsed document differs from the golden file; got\n%s\nrun go test -update and review the difference", file, i+1, line)
		}
	}
	t.Fatalf("%s has more lines than the result; want equal lines", file)
}
