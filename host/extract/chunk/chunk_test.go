package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/extract/chunk"
)

func ExampleSplit() {
	text := "# Install\n\nDownload the archive.\n\n## Linux\n\nUnpack it to /opt.\n\n\f## Windows\n\nStart the installer.\n"
	for _, c := range chunk.Split(text, chunk.Options{Source: "manual.md"}) {
		fmt.Println(c.Page, strings.Join(c.Headings, " > "), c.Offset, len(c.Text))
	}
	// Output:
	// 1 Install 0 32
	// 1 Install > Linux 34 28
	// 2 Install > Windows 65 32
}

// check verifies properties that the chunks of every text must have.
func check(t interface{ Fatalf(string, ...any) }, text string, o chunk.Options, chunks []chunk.Chunk) {
	size, limit := o.Bytes, o.Overlap
	if size == 0 {
		size = chunk.DefaultBytes
	}
	if limit == 0 {
		limit = chunk.DefaultOverlap
	}
	ids, at, page := map[string]bool{}, 0, 0
	for i, c := range chunks {
		if c.Offset < at || strings.TrimSpace(text[at:c.Offset]) != "" {
			t.Fatalf("chunk %d begins at %d; the previous one ends at %d", i, c.Offset, at)
		}
		end := c.Offset + len(c.Text) - c.Overlap
		if c.Text != text[c.Offset-c.Overlap:end] || strings.TrimSpace(c.Text) != c.Text {
			t.Fatalf("chunk %d is %q with an overlap of %d; want the text at %d", i, c.Text, c.Overlap, c.Offset)
		}
		if n := end - c.Offset; n == 0 || n > size || c.Overlap > max(limit, 0) {
			t.Fatalf("chunk %d has %d bytes and an overlap of %d; want at most %d and %d", i, n, c.Overlap, size, limit)
		}
		if utf8.ValidString(text) && !utf8.ValidString(c.Text) {
			t.Fatalf("chunk %d is not valid UTF-8: %q", i, c.Text)
		}
		if ids[c.ID] || c.Page < page || c.Page == 0 && strings.Contains(text, "\f") {
			t.Fatalf("chunk %d has the id %s and the page %d; want another id, and a page from %d", i, c.ID, c.Page, page)
		}
		ids[c.ID], at, page = true, end, c.Page
	}
	if strings.TrimSpace(text[at:]) != "" {
		t.Fatalf("no chunk contains the end of the text: %q", text[at:])
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n\nB\n---\n\fmore text", 100, 10)
	f.Add(strings.Repeat("word ", 100), 120, 500)
	f.Add(strings.Repeat("ü", 300), 100, 0)
	f.Add("\xff\xfe# \n\f\f   \u2028 # x\r\n===\r\n", 100, -1)
	f.Add("\u00a0\xc2", 100, 0)                      // the last byte is also the first byte of the white space
	f.Add(strings.Repeat("ab \vcd \v", 60), 100, 40) // an overlap does not begin with white space
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		o := chunk.Options{Bytes: min(max(size, chunk.MinBytes), chunk.MaxBytes)}
		o.Overlap = min(overlap, o.Bytes)
		check(t, text, o, chunk.Split(text, o))
	})
}

// document returns a random document. The document is a list of paragraphs and headings.
func document(t *rapid.T) []string {
	word := rapid.StringMatching(`[a-zäö]{1,12}`)
	sentence := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 15).Draw(t, "words"), " ") + "."
	})
	block := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			return strings.Repeat("#", rapid.IntRange(1, 4).Draw(t, "level")) + " " + word.Draw(t, "heading")
		}
		return strings.Join(rapid.SliceOfN(sentence, 1, 8).Draw(t, "sentences"), " ")
	})
	return rapid.SliceOfN(block, 1, 60).Draw(t, "blocks")
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(document(t), "\n\n")
		o := chunk.Options{Bytes: rapid.IntRange(chunk.MinBytes, 2000).Draw(t, "bytes")}
		check(t, text, o, chunk.Split(text, o))
	})
}

// long returns a document that consists of paragraphs and has no headings.
func long(paragraphs int) []string {
	random, words := rand.New(rand.NewPCG(1, 2)), strings.Fields("the gate admits runs of a tenant and parks them while a model answers questions about stored entries")
	made := make([]string, paragraphs)
	for i := range made {
		var b strings.Builder
		for range 20 + random.IntN(60) {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		made[i] = strings.TrimSpace(b.String()) + "."
	}
	return made
}

func ids(paragraphs []string) (ids []string) {
	for _, c := range chunk.Split(strings.Join(paragraphs, "\n\n"), chunk.Options{Source: "f"}) {
		ids = append(ids, c.ID)
	}
	return ids
}

// An edit changes only chunks near the edit, even in a document without headings.
func TestEdits(t *testing.T) {
	paragraphs := long(400)
	before := ids(paragraphs)
	if len(before) < 80 {
		t.Fatalf("the document has %d chunks; want at least 80", len(before))
	}
	for name, edited := range map[string][]string{
		"at the start":  slices.Concat([]string{"A new paragraph."}, paragraphs),
		"in the middle": slices.Concat(paragraphs[:200], []string{"Another new paragraph, which is somewhat longer."}, paragraphs[200:]),
		"removed":       slices.Concat(paragraphs[:100], paragraphs[101:]),
	} {
		changed := 0
		for _, id := range ids(edited) {
			if !slices.Contains(before, id) {
				changed++
			}
		}
		if changed > 12 {
			t.Errorf("%s: %d of %d chunks changed; want at most 12", name, changed, len(before))
		}
	}
}

func TestIDs(t *testing.T) {
	text := strings.Repeat("# Same\n\nThe same text.\n\n", 3)
	one, two := chunk.Split(text, chunk.Options{Source: "a"}), chunk.Split(text, chunk.Options{Source: "b"})
	if len(one) != 3 || one[0].ID == one[1].ID || one[1].ID == one[2].ID || one[0].ID == two[0].ID {
		t.Errorf("the ids are %v and %v; want different ids", one, two)
	}
	more := chunk.Split("# Before\n\nAn edit elsewhere.\n\n"+text, chunk.Options{Source: "a"})
	if len(more) != 4 || more[1].ID != one[0].ID || more[3].ID != one[2].ID {
		t.Errorf("the ids are %v after an edit elsewhere; want those of %v", more[1:], one)
	}
}

func TestHeadings(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"levels":        {"# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne", "A|A > B|A > B > C|A > D|E"},
		"underlined":    {"A\n===\na\n\nB\n---\nb", "A|A > B"},
		"closed":        {"## A ##\r\na", "A"},
		"headings only": {"# A\n\n## B\n\nb", "A > B"},
		"none":          {"#A\n####### B\n#\n - -\n---", ""},
		"first line":    {"---\na", ""},
	} {
		var got []string
		for _, c := range chunk.Split(tc.text, chunk.Options{}) {
			got = append(got, strings.Join(c.Headings, " > "))
		}
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%s: the chunks have the headings %q; want %q", name, strings.Join(got, "|"), tc.want)
		}
	}
}

// A chunk begins with the last words of the previous chunk, unless the chunk begins with a heading.
func TestOverlap(t *testing.T) {
	chunks := chunk.Split(strings.Join(long(20), " ")+"\n\n# New\n\nsection", chunk.Options{Overlap: 40})
	for i, c := range chunks {
		first := i == 0 || strings.HasPrefix(c.Text, "# New")
		if (c.Overlap == 0) != first || c.Overlap > 40 {
			t.Errorf("chunk %d has an overlap of %d bytes; want 1 to 40, or none at the start of a section", i, c.Overlap)
		}
		if !first && !strings.HasSuffix(chunks[i-1].Text, strings.TrimSpace(c.Text[:c.Overlap])) {
			t.Errorf("chunk %d begins with %q, which is not the end of the previous chunk", i, c.Text[:c.Overlap])
		}
	}
	for _, c := range chunk.Split(strings.Join(long(20), " "), chunk.Options{Overlap: -1}) {
		if c.Overlap != 0 {
			t.Errorf("a chunk has an overlap of %d bytes; want none", c.Overlap)
		}
	}
}

// The time that Split needs must be linear in the size of the text, for texts that have only one
// unit and for texts that have many units.
func TestLargeTexts(t *testing.T) {
	for name, text := range map[string]string{
		"one line": strings.Repeat("x", 1<<20), "lines": strings.Repeat("\n", 1<<20), "headings": strings.Repeat("# a\n", 1<<18),
		"pages": strings.Repeat("a\f", 1<<18), "underlines": strings.Repeat("a\n", 1<<18), "spaces": strings.Repeat(" ", 1<<20) + "a",
	} {
		check(t, text, chunk.Options{}, chunk.Split(text, chunk.Options{}))
		t.Logf("%s: %d bytes", name, len(text))
	}
}
