package index_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/model/lexical"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// judged contains a query and the grades of the relevant documents. The position of a document is
// the key of its grade.
type judged struct {
	query  string
	grades map[int]float64
}

// ndcg returns the normalized discounted cumulative gain of the first ten hits.
func (q judged) ndcg(hits []int) float64 {
	gain := func(grades []float64) (sum float64) {
		for i, grade := range grades[:min(10, len(grades))] {
			sum += (math.Exp2(grade) - 1) / math.Log2(float64(i+2))
		}
		return sum
	}
	var got []float64
	for _, i := range hits {
		got = append(got, q.grades[i])
	}
	ideal := slices.SortedFunc(maps.Values(q.grades), func(a, b float64) int { return cmp.Compare(b, a) })
	return gain(got) / gain(ideal)
}

// searched is a partition that contains documents.
type searched struct {
	set    *index.Set
	prefix storage.Key
	decode index.Decode
}

// store stores documents and the lexical vectors of these documents. The item part of a key is the
// position of the document.
func store(t *testing.T, documents []document) searched {
	t.Helper()
	backend, prefix := mem.New(), partition("t", "kb")
	texts := make([]string, len(documents))
	for i, d := range documents {
		texts[i] = d.text
		put(t, backend, item(prefix, fmt.Sprintf("%06d", i)), content{Text: d.text}, time.Time{})
	}
	vectors := lexical.Vectors(texts)
	s := searched{set: index.New(backend, index.Options{}), prefix: prefix}
	t.Cleanup(s.set.Close)
	s.decode = func(r storage.Record) (index.Entry, error) {
		i := position(r.Key)
		return index.Entry{Key: r.Key, Revision: r.Revision, Text: texts[i], Vector: vectors[i]}, nil
	}
	return s
}

// position returns the position of the document with a key.
func position(key storage.Key) int {
	n, _ := strconv.Atoi(key.Part(storage.Item)) // store has created the key
	return n
}

// quality returns the mean nDCG@10 of queries.
func (s searched) quality(t *testing.T, queries []judged, q index.Query) float64 {
	t.Helper()
	texts := make([]string, len(queries))
	for i, judged := range queries {
		texts[i] = judged.query
	}
	sum, vectors := 0.0, lexical.Vectors(texts)
	for i, judged := range queries {
		q.Text, q.Vector, q.Limit = judged.query, vectors[i], 10
		found, err := s.set.Search(t.Context(), s.prefix, s.decode, q)
		if err != nil {
			t.Fatal(err)
		}
		var hits []int
		for _, h := range found {
			hits = append(hits, position(h.Key))
		}
		sum += judged.ndcg(hits)
	}
	return sum / float64(len(queries))
}

// TestQuality compares the modes of a search on two sets of documents. The hybrid mode must not be
// worse than BM25.
func TestQuality(t *testing.T) {
	for name, load := range map[string]func(*testing.T) ([]document, []judged){"Go documentation": goSet, "Debian packages": debianSet} {
		t.Run(name, func(t *testing.T) {
			documents, queries := load(t)
			s := store(t, documents)
			text := s.quality(t, queries, index.Query{Mode: index.Text})
			vector := s.quality(t, queries, index.Query{Mode: index.Vector})
			hybrid := s.quality(t, queries, index.Query{VectorShare: lexical.VectorShare})
			half := s.quality(t, queries, index.Query{})
			t.Logf("nDCG@10 of %d queries in %d documents: BM25 %.3f, lexical vectors %.3f, hybrid %.3f, hybrid with equal shares %.3f",
				len(queries), len(documents), text, vector, hybrid, half)
			if hybrid < text-0.01 {
				t.Errorf("nDCG@10 of the hybrid mode is %.3f; want at least that of BM25, %.3f, less 0.01", hybrid, text)
			}
		})
	}
}

// goSet returns the documentation of the standard library of Go, and also queries and grades that
// were written by hand. The function omits a grade if the installed release of Go does not contain
// the graded name.
func goSet(t *testing.T) ([]document, []judged) {
	documents := goDocuments(t)
	positions := map[string]int{}
	for i, d := range documents {
		positions[d.name] = i
	}
	content, err := os.ReadFile("testdata/queries_go.txt")
	if err != nil {
		t.Fatal(err)
	}
	var queries []judged
	for line := range strings.Lines(string(content)) {
		query, grades, _ := strings.Cut(strings.TrimSpace(line), "\t")
		q := judged{query, map[int]float64{}}
		for _, field := range strings.Fields(grades) {
			name, number, _ := strings.Cut(field, ":")
			grade, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("query %q: the grade %s is wrong", query, field)
			}
			if i, ok := positions[name]; ok {
				q.grades[i] = float64(grade)
			}
		}
		if len(q.grades) == 0 {
			t.Fatalf("query %q: no name of its grades exists", query)
		}
		queries = append(queries, q)
	}
	return documents, queries
}

// debianSet returns the one-line descriptions of 10,000 packages. A query is the beginning of the
// long description of an installed package. For each query, the search must find the one-line
// description of the package from which the query was taken.
func debianSet(t *testing.T) ([]document, []judged) {
	const size, words = 10_000, 30
	installed, err := os.ReadFile("/var/lib/dpkg/status")
	available, errAvailable := exec.Command("apt-cache", "dumpavail").Output()
	if err != nil || errAvailable != nil {
		t.Skip("the lists of Debian's packages are not available on this machine")
	}
	short, long := descriptions(installed)
	names := slices.Sorted(maps.Keys(short))
	more, _ := descriptions(available)
	maps.DeleteFunc(more, func(name, _ string) bool { return short[name] != "" })
	others := slices.Sorted(maps.Keys(more))
	if len(names)+len(others) < size {
		t.Skip("the lists contain fewer than 10,000 packages")
	}
	wanted := size - len(names)
	for i := range wanted {
		name := others[i*len(others)/wanted]
		names = append(names, name)
		short[name] = more[name]
	}
	documents, same := make([]document, len(names)), map[string]map[int]float64{}
	for i, name := range names {
		documents[i] = document{name, short[name]}
		if same[short[name]] == nil {
			same[short[name]] = map[int]float64{}
		}
		same[short[name]][i] = 1
	}
	var queries []judged
	for _, name := range slices.Sorted(maps.Keys(long)) {
		if fields := strings.Fields(long[name]); len(fields) > words {
			queries = append(queries, judged{strings.Join(fields[:words], " "), same[short[name]]})
		}
	}
	return documents, queries
}

// descriptions returns the descriptions in a list of packages. Each description is split into the
// first line and the remaining lines.
func descriptions(list []byte) (short, long map[string]string) {
	short, long = map[string]string{}, map[string]string{}
	for paragraph := range bytes.SplitSeq(list, []byte("\n\n")) {
		var name, field string
		for line := range strings.Lines(string(paragraph)) {
			if value, continued := strings.CutPrefix(line, " "); continued {
				if field == "Description" {
					long[name] += strings.TrimSuffix(value, ".\n") + " "
				}
				continue
			}
			var value string
			field, value, _ = strings.Cut(strings.TrimSpace(line), ": ")
			switch field = strings.TrimSuffix(field, "-en"); field {
			case "Package":
				name = value
			case "Description":
				short[name] = value
			}
		}
	}
	return short, long
}
