package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// vocabulary contains words that have only a few different stems, so that random texts and queries
// share words.
var vocabulary = strings.Fields("renewal renewals renewed tea coffee the of invoice invoices Ann rome trip trips blue")

func texts(limit int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, limit).Draw(t, "words"), " ")
	})
}

func vectors() *rapid.Generator[[]float32] {
	return rapid.Custom(func(t *rapid.T) []float32 {
		if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			return nil
		}
		return grid(rapid.SliceOfN(rapid.IntRange(-16, 16), 3, 3).Draw(t, "vector")...)
	})
}

func metadatas() *rapid.Generator[map[string]any] {
	values := rapid.SampledFrom([]any{1.0, 2.0, 3.0, "1", "blue", true, nil, []any{"blue"}})
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), values, 0, 2)
}

func contents() *rapid.Generator[content] {
	return rapid.Custom(func(t *rapid.T) content {
		return content{texts(8).Draw(t, "text"), vectors().Draw(t, "vector"), metadatas().Draw(t, "metadata")}
	})
}

var filters = []string{`{}`, `{"a": 1}`, `{"a": "1"}`, `{"a": {"in": [1, "blue", null]}}`, `{"a": {"gte": 2}}`, `{"a": {"gte": 1, "lte": 2}, "b": "blue"}`, `{"b": {"gte": "a"}}`, `{"b": true}`}

// TestModel makes many random changes. After each change, the test compares searches with the
// reference implementation.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := mem.New()
		prefix := partition("t", "kb")
		s := index.New(b, index.Options{})
		index.SetMinEntries(s, rapid.SampledFrom([]int{1, 10, 256}).Draw(rt, "entries"))
		defer s.Close()
		committed := map[storage.Key]index.Entry{}
		keys := rapid.Map(rapid.IntRange(0, 30), func(i int) storage.Key { return item(prefix, fmt.Sprint(i)) })
		now := epoch
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				k := keys.Draw(rt, "key")
				var expires time.Time
				if hours := rapid.IntRange(0, 9).Draw(rt, "hours"); hours < 3 {
					expires = now.Add(time.Duration(hours) * time.Hour)
				}
				committed[k] = put(t, b, k, contents().Draw(rt, "content"), expires)
			},
			"rewrite": func(rt *rapid.T) { // until the index has been compacted
				for range 10 {
					for k, e := range committed {
						committed[k] = put(t, b, k, content{e.Text, e.Vector, e.Metadata}, e.Expires)
					}
				}
			},
			"remove": func(rt *rapid.T) {
				k := keys.Draw(rt, "key")
				remove(t, b, k)
				delete(committed, k)
			},
			"wait":  func(rt *rapid.T) { now = now.Add(time.Hour) },
			"evict": func(rt *rapid.T) { s.Evict(under(prefix)) },
			"search": func(rt *rapid.T) {
				q := index.Query{
					Text: texts(4).Draw(rt, "query"), Vector: vectors().Draw(rt, "query"), Now: now,
					Mode:        rapid.SampledFrom(index.Modes()).Draw(rt, "mode"),
					Limit:       rapid.IntRange(1, 12).Draw(rt, "limit"),
					Threshold:   float64(rapid.IntRange(0, 10).Draw(rt, "threshold")) / 20,
					VectorShare: float64(rapid.IntRange(0, 4).Draw(rt, "share")) / 4,
					Filter:      filter(t, rapid.SampledFrom(filters).Draw(rt, "filter")),
					Hidden:      rapid.SliceOfN(keys, 0, 3).Draw(rt, "hidden"),
				}
				for i, c := range rapid.SliceOfN(contents(), 0, 3).Draw(rt, "own") {
					k := item(prefix, fmt.Sprint("own", i))
					if i < len(q.Hidden) {
						k = q.Hidden[i]
					}
					if slices.ContainsFunc(q.Own, func(e index.Entry) bool { return e.Key == k }) {
						continue
					}
					q.Own = append(q.Own, index.Entry{Key: k, Text: c.Text, Vector: c.Vector, Metadata: c.Metadata})
				}
				var all []index.Entry
				for _, e := range committed {
					all = append(all, e)
				}
				got, want := describe(find(t, s, prefix, q)), describe(naive(t, all, q))
				if got != want {
					rt.Fatalf("Search(%+v):\n%s\nwant:\n%s", q, got, want)
				}
			},
		})
	})
}
