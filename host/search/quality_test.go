package search_test

import (
	"cmp"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/toolrun/toolrun/host/search"
)

// judged contains a query and the grades of the lines that are relevant to the query.
type judged struct {
	query  string
	grades map[int]float64 // maps the index of a line to the grade of the line
}

// judgments reads the test data of a language: the lines and the queries.
func judgments(t testing.TB, language string) (lines []string, queries []judged) {
	t.Helper()
	index := map[string]int{}
	for _, row := range rows(t, "testdata/lines_"+language+".txt") {
		index[row[0]] = len(lines)
		lines = append(lines, row[1])
	}
	for _, row := range rows(t, "testdata/queries_"+language+".txt") {
		q := judged{query: row[0], grades: map[int]float64{}}
		for _, grade := range strings.Fields(row[1]) {
			key, number, _ := strings.Cut(grade, ":")
			i, known := index[key]
			n, err := strconv.Atoi(number)
			if !known || err != nil {
				t.Fatalf("query %q: the grade %s is wrong", q.query, grade)
			}
			q.grades[i] = float64(n)
		}
		queries = append(queries, q)
	}
	return lines, queries
}

// rows reads a file with two columns. A tab separates the columns.
func rows(t testing.TB, name string) (rows [][2]string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		a, b, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found {
			t.Fatalf("%s: a line without a tab: %q", name, line)
		}
		rows = append(rows, [2]string{a, b})
	}
	return rows
}

// ndcg returns the normalized discounted cumulative gain of the first five hits.
func (q judged) ndcg(hits []int) float64 {
	gain := func(grades []float64) (sum float64) {
		for i, grade := range grades[:min(5, len(grades))] {
			sum += (math.Exp2(grade) - 1) / math.Log2(float64(i+2))
		}
		return sum
	}
	var got, ideal []float64
	for _, i := range hits {
		got = append(got, q.grades[i])
	}
	for _, grade := range q.grades {
		ideal = append(ideal, grade)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	return gain(got) / gain(ideal)
}

// plain ranks texts with BM25 over words in lower case. plain does not use stems or the list of
// common words.
func plain(texts []string, query string) []int {
	split := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	var total float64
	containing := map[string]int{}
	for _, text := range texts {
		words := split(text)
		total += float64(len(words))
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			containing[word]++
		}
	}
	scores := map[int]float64{}
	for i, text := range texts {
		words := split(text)
		norm := 1.2 * (0.25 + 0.75*float64(len(words))/(total/float64(len(texts))))
		for _, term := range split(query) {
			n := 0.0
			for _, word := range words {
				if word == term {
					n++
				}
			}
			if n > 0 {
				idf := math.Log(1 + (float64(len(texts)-containing[term])+0.5)/(float64(containing[term])+0.5))
				scores[i] += idf * n * 2.2 / (n + norm)
			}
		}
	}
	var hits []int
	for i := range texts {
		if scores[i] > 0 {
			hits = append(hits, i)
		}
	}
	slices.SortStableFunc(hits, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return hits
}

// The ranking must be better than the ranking of plain BM25, and must reach a minimum quality.
func TestQuality(t *testing.T) {
	for _, c := range []struct {
		language string
		want     float64
	}{{"english", 0.93}, {"german", 0.85}} {
		t.Run(c.language, func(t *testing.T) {
			lines, queries := judgments(t, c.language)
			l := language(t, c.language)
			var own, baseline float64
			for _, q := range queries {
				hits := order(l.Query(q.query).Rank(lines, search.Options{Limit: 5}))
				gain := q.ndcg(hits)
				if gain < 0.7 {
					t.Logf("%q: nDCG@5 = %.2f, hits %v", q.query, gain, hits)
				}
				own += gain / float64(len(queries))
				baseline += q.ndcg(plain(lines, q.query)) / float64(len(queries))
			}
			t.Logf("nDCG@5 of %d queries: %.3f; BM25 without stems: %.3f", len(queries), own, baseline)
			if own < baseline || own < c.want {
				t.Errorf("nDCG@5 = %.3f; want at least %.3f and at least that of plain BM25, %.3f", own, c.want, baseline)
			}
		})
	}
}

func BenchmarkRank(b *testing.B) {
	lines, queries := judgments(b, "english")
	size := 0
	for i, line := range lines {
		if size += len(line) + 1; size > 8000 {
			lines = lines[:i]
			break
		}
	}
	for len(lines) > 0 && size < 8000 { // as many texts as the largest archival block contains
		line := lines[len(lines)%64]
		lines, size = append(lines, line), size+len(line)+1
	}
	l := language(b, "english")
	b.Run("short", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			l.Query(queries[i%len(queries)].query).Rank(lines, search.Options{Limit: 10})
		}
	})
	long := strings.Join(lines[:20], " ")
	b.Run("long", func(b *testing.B) {
		for b.Loop() {
			l.Query(long).Rank(lines, search.Options{Limit: 10})
		}
	})
}
