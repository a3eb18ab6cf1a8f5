package intl

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

var order = flag.Bool("order", false, "write the characters whose order is known anew")

// sortAsNode sorts texts as Node does. For each text, sortAsNode also reports whether Node
// considers the text equal to the previous text.
const sortAsNode = `const texts = JSON.parse(require("fs").readFileSync(0));
const { compare } = new Intl.Collator("en");
texts.sort((a, b) => compare(a, b) || (a < b ? -1 : 1));
console.log(JSON.stringify({ texts, equal: texts.map((t, i) => i > 0 && compare(texts[i - 1], t) === 0) }));`

// TestKnownOrder checks that Node and golang.org/x/text agree on the order of the characters in
// knownSpans. Node and golang.org/x/text each sort the characters into a sequence. knownSpans
// contains a longest common subsequence of the two sequences.
func TestKnownOrder(t *testing.T) {
	node := NodeOfCLDR(t)
	texts, err := json.Marshal(candidates())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(node, "-e", sortAsNode)
	command.Stdin = bytes.NewReader(texts)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var sorted struct {
		Texts []string
		Equal []bool
	}
	if err := json.Unmarshal(out, &sorted); err != nil {
		t.Fatal(err)
	}
	found := spansOf(longest(sorted.Texts, sorted.Equal))
	if *order {
		source := "package intl\n\n// knownSpans is the result of TestKnownOrder.\nconst knownSpans = `" + found + "`\n"
		if err := os.WriteFile("collationspans.go", []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if found != knownSpans {
		t.Error("the characters whose order is known have changed; run the test with -order")
	}
}

// candidates returns texts to sort. A text is a single character, or a letter and a mark of the
// same script.
func candidates() (texts []string) {
	for r := rune(0x80); r < 0x20000; r++ {
		ideograph := r >= 0x3400 && r < 0x4E00
		if !ideograph && (r < 0x10000 || r >= 0x1F000) && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.Zs) {
			texts = append(texts, string(r))
		}
	}
	for base, spans := range map[string][][2]rune{
		"a": {{0x300, 0x36F}, {0x483, 0x487}, {0x591, 0x5C7}, {0x610, 0x61A}, {0x64B, 0x65F}, {0x670, 0x670}},
		"क": {{0x900, 0x903}, {0x93A, 0x94F}}, "ก": {{0xE31, 0xE3A}, {0xE47, 0xE4E}},
	} {
		for _, span := range spans {
			for r := span[0]; r <= span[1]; r++ {
				if unicode.Is(unicode.M, r) {
					texts = append(texts, base+string(r))
				}
			}
		}
	}
	slices.Sort(texts)
	return texts
}

// longest returns a longest subsequence of the texts that is also in the order of
// golang.org/x/text. The texts must be in Node's order.
func longest(texts []string, equal []bool) (kept []rune) {
	c := collate.New(language.English)
	fits := func(a, b int) bool {
		order := c.CompareString(texts[a], texts[b])
		return order < 0 || order == 0 && !slices.Contains(equal[a+1:b+1], false)
	}
	var ends []int
	before := make([]int, len(texts))
	for i := range texts {
		k := sort.Search(len(ends), func(k int) bool { return !fits(ends[k], i) })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		ends = append(ends[:k], append([]int{i}, ends[min(k+1, len(ends)):]...)...)
	}
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		runes := []rune(texts[i])
		kept = append(kept, runes[len(runes)-1])
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func spansOf(runes []rune) string {
	var lines []string
	line := ""
	for i := 0; i < len(runes); {
		first := runes[i]
		for i++; i < len(runes) && runes[i] == runes[i-1]+1; i++ {
		}
		span := fmt.Sprintf("%x-%x", first, runes[i-1])
		if len(line)+len(span) > 116 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + span)
	}
	return strings.Join(append(lines, line), "\n")
}
