package search

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// Ranking never panics, and the hits are in order. If a query and a text are equal, the search must
// find all words of the query in the text.
func FuzzRank(f *testing.F) {
	f.Add("Acme renewal", "Acme's renewals", uint8(3))
	f.Add("Verträge", "der Vertrag", uint8(6))
	f.Add("\xff\xfe", "東京タワー ก า", uint8(0))
	f.Add("ﷺ don't", "l'avion s'est", uint8(5))
	f.Fuzz(func(t *testing.T, query, text string, number uint8) {
		names := Languages()
		l, err := FindLanguage(names[int(number)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		q := l.Query(query)
		texts := []string{text, query, "", query + " " + text}
		hits := q.Rank(texts, Options{})
		for i, h := range hits {
			if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("Rank = %v; want scores from 1 to 0 in descending order", hits)
			}
		}
		own := slices.IndexFunc(hits, func(h Hit) bool { return h.Text == 1 })
		if q.IsEmpty() != (own < 0) || own >= 0 && hits[own].Score != 1 && len(q.terms) < MaxTerms {
			t.Errorf("Query(%q).Rank = %v; want the score 1 for the text of the query", query, hits)
		}
	})
}

// A stem must begin with the same letter as its word. A Matcher does not compute the stem of a word
// if no word of the query begins with the same byte.
func FuzzFirstLetter(f *testing.F) {
	for _, word := range []string{"dying", "skies", "abonnement", "yyy", "ijsje", "\u0130stanbul", "uu"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := languages()
		for i := range all {
			l, s := &all[i], stemmer{language: &all[i]}
			var w words
			for w.reset(text); w.next() && !l.prefixes; {
				stem := s.stem(string(w.word))
				if !utf8.ValidString(stem) || stem == "" || w.word[0] < 0x80 && stem[0] != w.word[0] {
					t.Errorf("%s: the stem of %q is %q; want a stem with the same first letter", l.name, w.word, stem)
				}
			}
		}
	})
}
