package index_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The type content is the content of a record in these tests.
type content struct {
	Text     string         `json:"text"`
	Vector   []float32      `json:"vector,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// partition returns the prefix of a partition.
func partition(tenant, name string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: tenant}, storage.Part{Tag: storage.App, Value: "a"}, storage.Part{Tag: storage.Store, Value: name})
}

func item(prefix storage.Key, id string) storage.Key {
	return prefix.With(storage.Part{Tag: storage.Item, Value: id})
}

func decode(r storage.Record) (index.Entry, error) {
	var c content
	err := json.Unmarshal(r.Content, &c)
	return index.Entry{Key: r.Key, Revision: r.Revision, Expires: r.Expires, Text: c.Text, Vector: c.Vector, Metadata: c.Metadata}, err
}

// put stores an entry under a key and returns the entry.
func put(t testing.TB, b storage.Backend, k storage.Key, c content, expires time.Time) index.Entry {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var stored storage.Record
	err = b.Update(context.Background(), storage.Keys(k, storage.FloorKey(k)), func(now []storage.Record) ([]storage.Write, error) {
		stored = storage.Record{Key: k, Content: text, Revision: max(now[0].Revision, now[1].Revision) + 1, Generation: "g", Created: epoch, Updated: epoch, Expires: expires}
		return []storage.Write{{Record: stored}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return index.Entry{Key: k, Revision: stored.Revision, Expires: expires, Text: c.Text, Vector: c.Vector, Metadata: c.Metadata}
}

func remove(t testing.TB, b storage.Backend, keys ...storage.Key) {
	t.Helper()
	if _, err := b.DeleteWhere(context.Background(), storage.Selector{Keys: keys}, len(keys)); err != nil {
		t.Fatal(err)
	}
}

// naive is a reference implementation of searches, which follows the formulas in the package
// documentation.
func naive(t testing.TB, committed []index.Entry, q index.Query) []index.Hit {
	t.Helper()
	type candidate struct {
		index.Entry
		own    int
		counts map[string]int
		length int
	}
	language, err := search.FindLanguage(q.Language)
	if err != nil {
		t.Fatal(err)
	}
	var all []candidate
	tokenizer := language.Tokenizer()
	add := func(e index.Entry, own int) {
		if !e.Expires.IsZero() && !q.Now.Before(e.Expires) {
			return
		}
		c := candidate{Entry: e, own: own, counts: map[string]int{}}
		for token := range tokenizer.Tokens(e.Text) {
			c.counts[token.Stem]++
			c.length++
		}
		all = append(all, c)
	}
	for _, e := range committed {
		if !slices.Contains(q.Hidden, e.Key) {
			add(e, -1)
		}
	}
	for i, e := range q.Own {
		add(e, i)
	}
	terms := language.Query(q.Text).Terms()
	words, weights, sum := 0, make([]float64, len(terms)), 0.0
	for i, term := range terms {
		containing := 0
		for _, c := range all {
			if c.counts[term] > 0 {
				containing++
			}
		}
		weights[i] = search.IDF(len(all), containing)
		sum += weights[i]
	}
	for _, c := range all {
		words += c.length
	}
	round := func(x float64) float64 { return math.Round(min(1, max(0, x))*1e4) / 1e4 }
	var hits []index.Hit
	for _, c := range all {
		if !q.Filter.Matches(c.Metadata) {
			continue
		}
		text, vector := 0.0, 0.0
		if q.Mode != index.Vector {
			for i, term := range terms {
				text += weights[i] / sum * search.Saturation(min(255, c.counts[term]), c.length, float64(words)/float64(len(all)))
			}
		}
		if text = 0.9 * text; text > 0.9 {
			text = 0.9 + (text/0.9-1)/12
		}
		if q.Mode != index.Text && len(c.Vector) == len(q.Vector) {
			for i := range c.Vector {
				vector += float64(c.Vector[i]) * float64(q.Vector[i])
			}
		}
		h := index.Hit{Key: c.Key, Revision: c.Revision, Own: c.own, Vector: round(vector), Text: round(text)}
		switch q.Mode {
		case index.Vector:
			h.Score = round(vector)
		case index.Text:
			h.Score = round(text)
		default:
			share := cmp.Or(q.VectorShare, 0.5)
			h.Score = round(share*max(0, vector) + (1-share)*text)
		}
		if h.Score > 0 && h.Score >= q.Threshold {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return hits[:min(len(hits), q.Limit)]
}

// grid returns a vector whose elements are multiples of 1/16. Sums of products of multiples of 1/16
// have no rounding errors. Therefore all implementations compute the same scores.
func grid(elements ...int) []float32 {
	v := make([]float32, len(elements))
	for i, e := range elements {
		v[i] = float32(e) / 16
	}
	return v
}

// describe returns a readable form of hits.
func describe(hits []index.Hit) string {
	text := ""
	for _, h := range hits {
		text += fmt.Sprintf("%s rev %d own %d: %v (vector %v, text %v)\n", h.Key.Part(storage.Item), h.Revision, h.Own, h.Score, h.Vector, h.Text)
	}
	return text
}

func find(t testing.TB, s *index.Set, prefix storage.Key, q index.Query) []index.Hit {
	t.Helper()
	hits, err := s.Search(context.Background(), prefix, decode, q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func filter(t testing.TB, text string) index.Filter {
	t.Helper()
	f, err := index.ParseFilter([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSearch searches a few entries. The scores must equal scores that were computed by hand.
func TestSearch(t *testing.T) {
	b := mem.New()
	kb := partition("t", "kb")
	put(t, b, item(kb, "fees"), content{"Fees are due in May", grid(16, 0), map[string]any{"year": 2026, "team": "blue"}}, time.Time{})
	put(t, b, item(kb, "trips"), content{"A trip to Rome", grid(0, 16), map[string]any{"year": 2024, "team": "red"}}, time.Time{})
	put(t, b, item(kb, "gone"), content{"Fees of last year", grid(16, 0), nil}, epoch)
	put(t, b, item(partition("t", "kb2"), "other"), content{"Fees", grid(16, 0), nil}, time.Time{})
	s := index.New(b, index.Options{})
	defer s.Close()
	own := index.Entry{Key: item(kb, "own"), Text: "a fee for May", Vector: grid(8, 8)}
	for _, c := range []struct {
		name string
		q    index.Query
		want []string
	}{
		{"vector", index.Query{Mode: index.Vector, Vector: grid(16, 0)}, []string{"fees"}},
		{"text", index.Query{Mode: index.Text, Text: "the trips"}, []string{"trips"}},
		{"hybrid", index.Query{Text: "fee", Vector: grid(12, 4)}, []string{"fees", "trips"}},
		{"threshold", index.Query{Text: "fee", Vector: grid(12, 4), Threshold: 0.3}, []string{"fees"}},
		{"limit", index.Query{Text: "fee", Vector: grid(12, 4), Limit: 1}, []string{"fees"}},
		{"filter", index.Query{Text: "fee", Vector: grid(12, 4), Filter: filter(t, `{"team": "red"}`)}, []string{"trips"}},
		{"typed filter", index.Query{Text: "fee", Vector: grid(12, 4), Filter: filter(t, `{"year": "2024"}`)}, nil},
		{"own entry", index.Query{Mode: index.Vector, Vector: grid(8, 8), Own: []index.Entry{own}}, []string{"own", "fees", "trips"}},
		{"hidden entry", index.Query{Mode: index.Vector, Vector: grid(8, 8), Hidden: []storage.Key{item(kb, "fees")}}, []string{"trips"}},
		{"before the end", index.Query{Mode: index.Vector, Vector: grid(16, 0), Now: epoch.Add(-1)}, []string{"fees", "gone"}},
		{"no words", index.Query{Mode: index.Text, Text: "!"}, nil},
		{"another length", index.Query{Mode: index.Vector, Vector: grid(16)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.q.Now.IsZero() {
				c.q.Now = epoch
			}
			c.q.Limit = cmp.Or(c.q.Limit, 10)
			var got []string
			for _, h := range find(t, s, kb, c.q) {
				got = append(got, h.Key.Part(storage.Item))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Search = %v; want %v", got, c.want)
			}
		})
	}
}
