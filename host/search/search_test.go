package search_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/search"
)

func language(t testing.TB, name string) *search.Language {
	t.Helper()
	l, err := search.FindLanguage(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// order returns the indexes of the texts of hits.
func order(hits []search.Hit) []int {
	var texts []int
	for _, h := range hits {
		texts = append(texts, h.Text)
	}
	return texts
}

// A word of a query matches the words of a text that have the same stem. Case and accents do not
// affect the result.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, language, query, text string
		matches                     bool
	}{
		{"same word", "", "renewal", "Acme renewal", true},
		{"case", "", "ACME", "acme", true},
		{"plural", "", "renewals", "the renewal of Acme", true},
		{"verb forms", "", "negotiating", "negotiated a price", true},
		{"other word", "", "car", "carpet", false},
		{"possessive", "", "Ann", "Ann's flight", true},
		{"typographic apostrophe", "", "Ann", "Ann\u2019s flight", true},
		{"contraction is not a word", "", "s", "Ann's flight", false},
		{"apostrophe in a name", "", "brien", "O'Brien", true},
		{"part of a date", "", "2026-04", "approved on 2026-04-18", true},
		{"full-width letters", "", "ABC", "\uff21\uff22\uff23", true},
		{"accent", "", "Zurich", "office in Zürich", true},
		{"decomposed accent", "", "Zürich", "office in Zu\u0308rich", true},
		{"only accents", "french", "etes", "étés", true},
		{"letters that begin with an accent", "french", "ecole", "à l'école", true},
		{"German plural", "german", "Verträge", "der Vertrag mit Siemens", true},
		{"German sharp s", "german", "Strasse", "die Straße nach Bonn", true},
		{"German inflection", "german", "Rechnungen", "die Rechnung vom Mai", true},
		{"umlaut at the start", "german", "Arzt", "die Ärzte", true},
		{"Russian inflection", "russian", "договор", "по договору", true},
		{"Chinese pair", "", "东京", "他住在东京都", true},
		{"Chinese characters in another order", "", "京东", "东京", false},
		{"Japanese long vowel", "", "コーヒー", "朝はコーヒーです", true},
		{"single character", "", "猫", "猫", true},
		{"Thai", "", "กาแฟ", "ชอบกาแฟดำ", true},
		{"emoji is not a word", "", "🙂", "🙂", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			hits := language(t, c.language).Query(c.query).Rank([]string{c.text}, search.Options{})
			if (len(hits) == 1) != c.matches {
				t.Errorf("Rank = %v; want a hit: %v", hits, c.matches)
			}
		})
	}
}

// The score is the weight of the matching words divided by the weight of the query. Rare words have
// a higher weight than frequent words.
func TestScore(t *testing.T) {
	texts := []string{"Acme renewal in May", "Globex renewal in June", "renewal of Initech", "lunch at noon"}
	hits := language(t, "").Query("the Acme renewal").Rank(texts, search.Options{})
	if got, want := order(hits), []int{0, 2, 1}; !slices.Equal(got, want) {
		t.Fatalf("order = %v; want %v", got, want)
	}
	if hits[0].Score != 1 {
		t.Errorf("score = %v; want 1 for a text with all words", hits[0].Score)
	}
	acme, renewal := search.IDF(4, 1), search.IDF(4, 3)
	want := math.Round(renewal/(acme+renewal)*1e4) / 1e4
	if hits[1].Score != want || hits[2].Score != want {
		t.Errorf("scores = %v, %v; want %v", hits[1].Score, hits[2].Score, want)
	}
}

func TestTies(t *testing.T) {
	q := language(t, "").Query("alpha beta")
	texts := []string{"beta and alpha", "gamma", "alpha and beta", "alpha beta alpha beta", "alpha beta"}
	if got, want := order(q.Rank(texts, search.Options{})), []int{3, 4, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("order = %v; want %v: repeated words, then short texts, then the given order", got, want)
	}
}

func TestOptions(t *testing.T) {
	q := language(t, "").Query("red green blue")
	texts := []string{"red", "red green", "red green blue", "yellow"}
	all := q.Rank(texts, search.Options{})
	if got, want := order(all), []int{2, 1, 0}; !slices.Equal(got, want) {
		t.Fatalf("order = %v; want %v", got, want)
	}
	if got := q.Rank(texts, search.Options{Limit: 2}); !slices.Equal(got, all[:2]) {
		t.Errorf("with a limit: %v; want %v", got, all[:2])
	}
	if got := q.Rank(texts, search.Options{MinScore: all[1].Score}); !slices.Equal(got, all[:2]) {
		t.Errorf("with the score of the second text as minimum: %v; want %v", got, all[:2])
	}
}

// Common words count only in a query that contains no other words.
func TestCommonWords(t *testing.T) {
	texts := []string{"what the user is", "the budget"}
	if got, want := order(language(t, "").Query("what is the budget?").Rank(texts, search.Options{})), []int{1}; !slices.Equal(got, want) {
		t.Errorf("order = %v; want %v", got, want)
	}
	if got, want := order(language(t, "").Query("what is the").Rank(texts, search.Options{})), []int{0, 1}; !slices.Equal(got, want) {
		t.Errorf("only common words: order = %v; want %v", got, want)
	}
}

func TestNoWords(t *testing.T) {
	for _, text := range []string{"", " ", "...", "\xff\xfe", "🙂"} {
		q := language(t, "").Query(text)
		if hits := q.Rank([]string{"some text", ""}, search.Options{}); !q.IsEmpty() || len(hits) > 0 {
			t.Errorf("Query(%q) is not empty, or Rank = %v; want an empty query and no hits", text, hits)
		}
	}
}

func TestFindLanguage(t *testing.T) {
	for _, name := range search.Languages() {
		if l := language(t, name); l.Name() != name {
			t.Errorf("FindLanguage(%q) has the name %q", name, l.Name())
		}
	}
	if _, err := search.FindLanguage("klingon"); err == nil || !strings.Contains(err.Error(), "english") {
		t.Errorf("FindLanguage of an unknown language = %v; want an error that lists the languages", err)
	}
	if !slices.IsSorted(search.Languages()) {
		t.Error("the languages are not sorted")
	}
}

// A query has a limited number of terms. If a word is too long, only the bytes at the beginning of
// the word are compared.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 2 * search.MaxTerms {
		b.WriteString(strings.Repeat("x", i%40+1) + strings.Repeat("y", i/40+1) + " ")
	}
	q := language(t, "").Query(b.String())
	hits := q.Rank(strings.Fields(b.String()), search.Options{})
	if len(hits) == 0 || len(hits) >= 2*search.MaxTerms {
		t.Errorf("Rank returned %d hits; want at least 1 and not many more than %d", len(hits), search.MaxTerms)
	}
	long := strings.Repeat("a", 1<<20)
	if hits := language(t, "").Query(long).Rank([]string{long + "b"}, search.Options{}); len(hits) != 1 {
		t.Errorf("Rank of a long word = %v; want a hit, because the words have the same beginning", hits)
	}
}
