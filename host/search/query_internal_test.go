package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/blevesearch/snowballstem"
)

// TestQueryWork counts the words that a query reduces to stems. Each word must be reduced only
// once. The number of words must be bounded, even if normalization makes a text longer.
func TestQueryWork(t *testing.T) {
	var related strings.Builder // words with one stem
	for i := range 4 * maxQueryWords {
		fmt.Fprintf(&related, "w%d ", i)
	}
	for _, test := range []struct {
		name, text  string
		want, terms int
	}{
		{"one word", strings.Repeat("renewal ", 8000), 1, 1},
		{"a ligature of four words", strings.Repeat("\uFDFA", 64<<10/3), 4, 4},
		{"words with one stem", related.String(), maxQueryWords, 1},
	} {
		stems := 0
		l := &Language{name: DefaultLanguage, stem: func(env *snowballstem.Env) bool {
			if stems++; strings.HasPrefix(env.Current(), "w") {
				env.SetCurrent("w")
			}
			return true
		}}
		if q := l.Query(test.text); stems != test.want || len(q.terms) != test.terms {
			t.Errorf("%s: %d words are reduced to %d terms; want %d and %d", test.name, stems, len(q.terms), test.want, test.terms)
		}
	}
}
