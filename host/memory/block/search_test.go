package block_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/block"
)

// archival contains the entries that the documentation shows for archival blocks.
const archival = "- Acme renewal: CFO wants pricing options before the May 12 exec review.\n- Globex implementation: legal approved the DPA on 2026-04-18."

func search(t *testing.T, text string, texts ...block.Block) []block.Match {
	t.Helper()
	matches, err := block.Search(texts, block.Query{Text: text, Limit: block.DefaultLimit})
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

// Line numbers start at 1 and count all lines. List markers are not part of a line, and blank lines
// never match.
func TestSearchLines(t *testing.T) {
	text := block.Block{Name: "archival", Content: "* one tea\r\n\n-\n 2. two teas\n• TEA three"}
	var got []string
	for _, m := range search(t, "tea", text) {
		got = append(got, fmt.Sprintf("%d:%s:%v", m.Line, m.Content, m.Score))
	}
	if want := "1:one tea:1 4:two teas:1 5:TEA three:1"; strings.Join(got, " ") != want {
		t.Errorf("matches = %q; want %q", got, want)
	}
}

// The texts of several blocks and agents are ranked together.
func TestSearchSeveralTexts(t *testing.T) {
	matches := search(t, "Acme renewal",
		block.Block{Name: "archival", Content: "- Acme pays late\n- Initech plans renewal"},
		block.Block{Name: "archival", Content: archival, Agent: "sales"},
		block.Block{Name: "projects", Content: "nothing"})
	if len(matches) != 3 || matches[0].Agent == nil || *matches[0].Agent != "sales" || matches[0].Scope != block.ScopeAgent || matches[0].Score != 1 {
		t.Fatalf("matches = %+v; want the line of the agent first", matches)
	}
	if matches[1].Line != 1 || matches[2].Line != 2 || matches[1].Score != matches[2].Score || matches[1].Agent != nil {
		t.Errorf("matches = %+v; want the lines with one word in their order", matches[1:])
	}
}

func TestSearchChecksQueries(t *testing.T) {
	for name, c := range map[string]struct {
		query block.Query
		code  abi.Code
	}{
		"no limit":         {block.Query{Text: "a"}, abi.InvalidArgument},
		"high limit":       {block.Query{Text: "a", Limit: block.MaxLimit + 1}, abi.InvalidArgument},
		"negative score":   {block.Query{Text: "a", Limit: 1, MinScore: -0.1}, abi.InvalidArgument},
		"unknown language": {block.Query{Text: "a", Limit: 1, Language: "klingon"}, abi.InvalidArgument},
		"long text":        {block.Query{Text: strings.Repeat("a", block.MaxQueryBytes+1), Limit: 1}, abi.TooLarge},
	} {
		if _, err := block.Search(nil, c.query); !errors.Is(err, c.code) {
			t.Errorf("%s: error = %v; want %s", name, err, c.code)
		}
	}
	if matches := search(t, "a"); matches == nil || len(matches) != 0 {
		t.Errorf("matches without texts = %v; want an empty list", matches)
	}
}

// The language determines which words have the same stem.
func TestSearchLanguage(t *testing.T) {
	texts := []block.Block{{Name: "archival", Content: "- Besitzt ein Haus in Bonn"}}
	for language, want := range map[string]int{"": 0, "german": 1} {
		matches, err := block.Search(texts, block.Query{Text: "Häuser", Language: language, Limit: 1})
		if err != nil || len(matches) != want {
			t.Errorf("%q: matches = %v, %v; want %d", language, matches, err, want)
		}
	}
}

// BenchmarkSearch searches an archival block of the default maximum size.
func BenchmarkSearch(b *testing.B) {
	var content strings.Builder
	for i := 0; content.Len() < 7900; i++ {
		fmt.Fprintf(&content, "- %s %d: %s\n", strings.Repeat(string(rune('a'+i%26)), 2+i%5)+"corp", i, strings.ReplaceAll(archival[2:72], "Acme", fmt.Sprint("Unit", i)))
	}
	texts := []block.Block{{Name: "archival", Content: content.String()}}
	for b.Loop() {
		if _, err := block.Search(texts, block.Query{Text: "Acme renewal pricing", Limit: 10}); err != nil {
			b.Fatal(err)
		}
	}
}
