// Command recall measures searches in collections. Each collection has 100,000 entries, and each
// entry has a vector of 512 elements. For comparison, the command measures the same searches with
// chromem-go and with a loop over all vectors. The texts of the first collection are comments of
// Go's standard library, and the built-in embedder computes the vectors of these texts. The second
// collection has random vectors. The third collection has vectors in clusters. The command measures
// all three collections, because the distribution of the vectors affects a search.
package main

import (
	"context"
	"errors"
	"flag"
	"go/build"
	"path/filepath"
	"runtime"
	"time"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// These are the sizes of the sets and of the search results.
const (
	many       = 100_000
	few        = 1000
	dimension  = 512
	queries    = 64
	limit      = 10
	memory     = 2 << 30
	groups     = 10 // a filter on one group accepts a tenth of the entries
	groupName  = "group"
	filterText = `{"group": 3}`
	comments   = "100,000 comments: "
)

var sources = flag.String("sources", filepath.Join(build.Default.GOROOT, "src"), "folder with Go sources, whose comments are the texts")

func main() { measure.Main(prepare) }

// bench contains what the benchmark needs: a database, the search indexes, the cases and the
// figures.
type bench struct {
	backend storage.Backend
	index   *index.Set
	filter  index.Filter
	figures []measure.Figure
	cases   []*measure.Case
	// writes contains a function for each writer. The function returns the writer's rate after this
	// rate has been measured.
	writes []func() measure.Figure
}

func prepare(dir string) (*measure.Bench, error) {
	backend, err := bolt.Open(filepath.Join(dir, "recall.db"), nil)
	if err != nil {
		return nil, err
	}
	filter, err := index.ParseFilter([]byte(filterText))
	if err != nil {
		return nil, err
	}
	b := &bench{backend: backend, index: index.New(backend, index.Options{Bytes: memory}), filter: filter}
	if err := b.prepare(); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return &measure.Bench{
		Cases:   b.cases,
		Figures: b.summary,
		Apart: func() ([]measure.Row, []measure.Figure, error) {
			figures, err := processorTimes(b.cases, comments+"vector", comments+"vector, filter", comments+"hybrid", comments+"hybrid, filter",
				"1,000 comments: vector", "1,000 comments: hybrid", comments+chromemName, comments+loopName)
			return nil, figures, err
		},
		Close: func() error {
			b.index.Close()
			return backend.Close()
		},
	}, nil
}

// prepare stores the sets, builds their indexes, and makes the cases.
func (b *bench) prepare() error {
	texts, err := textSet(*sources, many+queries)
	if err != nil {
		return err
	}
	small, smallest := texts.first("1,000 comments", few), texts.first("200 comments, no index", 200)
	for _, s := range []*set{texts, small, smallest, clusteredSet(many + queries), randomSet(many + queries)} {
		if err := s.store(b.backend); err != nil {
			return err
		}
		if err := b.load(s); err != nil {
			return err
		}
		b.addCases(s)
	}
	return b.addPeers(texts)
}

// load builds the index of a set. load adds the duration and the memory use of the build to the
// figures.
func (b *bench) load(s *set) error {
	before, heap, began := b.index.Bytes(), heapBytes(), time.Now()
	if _, err := b.search(s, index.Query{Mode: index.Vector, Vector: s.queries[0].Vector}); err != nil {
		return err
	}
	took, entries := time.Since(began), float64(len(s.entries))
	b.figures = append(b.figures,
		measure.Figure{Name: s.name + ": load from the file", Value: took.Seconds(), Unit: "s"},
		measure.Figure{Name: s.name + ": size of the index, as accounted", Value: float64(b.index.Bytes()-before) / entries, Unit: "bytes per entry"},
		measure.Figure{Name: s.name + ": growth of the heap", Value: float64(heapBytes()-heap) / entries, Unit: "bytes per entry"})
	return nil
}

// heapBytes returns the number of bytes in use on the heap.
func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// search searches a set.
func (b *bench) search(s *set, q index.Query) ([]index.Hit, error) {
	q.Limit, q.Now = limit, time.Now()
	return b.index.Search(context.Background(), s.prefix, decode, q)
}

// addCases adds the cases that search in a set.
func (b *bench) addCases(s *set) {
	add := func(name string, of func(e *index.Entry) index.Query) {
		b.cases = append(b.cases, &measure.Case{Name: s.name + ": " + name, Workers: 1, Call: func(_, n int) error {
			_, err := b.search(s, of(&s.queries[n%queries]))
			return err
		}})
	}
	add("vector", func(e *index.Entry) index.Query { return index.Query{Mode: index.Vector, Vector: e.Vector} })
	add("vector, filter", func(e *index.Entry) index.Query {
		return index.Query{Mode: index.Vector, Vector: e.Vector, Filter: b.filter}
	})
	if s.queries[0].Text == "" {
		return
	}
	add("text", func(e *index.Entry) index.Query { return index.Query{Mode: index.Text, Text: e.Text} })
	add("hybrid", func(e *index.Entry) index.Query { return index.Query{Vector: e.Vector, Text: e.Text} })
	add("hybrid, filter", func(e *index.Entry) index.Query {
		return index.Query{Vector: e.Vector, Text: e.Text, Filter: b.filter}
	})
	b.addWriters(s)
}

// addWriters adds cases of hybrid searches. During these searches, another goroutine replaces
// entries as fast as it can.
func (b *bench) addWriters(s *set) {
	written, wrote := 0, time.Duration(0)
	name := s.name + ": hybrid, one writer"
	b.writes = append(b.writes, func() measure.Figure {
		return measure.Figure{Name: name + ": writes", Value: float64(written) / wrote.Seconds(), Unit: "per second"}
	})
	b.cases = append(b.cases, &measure.Case{Name: name, Workers: 1, Sample: func(span time.Duration) (measure.Sample, error) {
		stop, done := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				written++
				if err := s.write(b.backend, written%len(s.entries), 1); err != nil {
					done <- err
					return
				}
			}
		}()
		sample, began := measure.Sample{}, time.Now()
		var err error
		for n := 0; time.Since(began) < span && err == nil; n++ {
			start, e := time.Now(), &s.queries[n%queries]
			_, err = b.search(s, index.Query{Vector: e.Vector, Text: e.Text})
			sample.Took = append(sample.Took, time.Since(start))
		}
		sample.Span = time.Since(began)
		close(stop)
		err = errors.Join(err, <-done)
		wrote += time.Since(began)
		return sample, err
	}})
}

func (b *bench) summary(rows measure.Rows) []measure.Figure {
	for _, figure := range b.writes {
		b.figures = append(b.figures, figure())
	}
	return append(b.figures,
		measure.Figure{Name: "100,000 entries, vector, p50", Value: rows[comments+"vector"].P50 / 1000, Unit: "ms", Aim: "at most 10"},
		measure.Figure{Name: "100,000 entries, hybrid, p50", Value: rows[comments+"hybrid"].P50 / 1000, Unit: "ms", Aim: "at most 10"},
		measure.Figure{Name: "100,000 entries, vector, filter for 10 %, p50", Value: rows[comments+"vector, filter"].P50 / 1000, Unit: "ms", Aim: "at most 2"},
		measure.Figure{Name: "100,000 entries, hybrid, filter for 10 %, p50", Value: rows[comments+"hybrid, filter"].P50 / 1000, Unit: "ms", Aim: "at most 2"},
		measure.Figure{Name: "1,000 entries, vector, p50", Value: rows["1,000 comments: vector"].P50 / 1000, Unit: "ms", Aim: "at most 0.2"},
		measure.Figure{Name: "1,000 entries, hybrid, p50", Value: rows["1,000 comments: hybrid"].P50 / 1000, Unit: "ms", Aim: "at most 0.2"},
		rows.Over("ratio of chromem-go to toolrun, vector, p50", comments+chromemName, "", comments+"vector"),
		rows.Over("ratio of a loop to toolrun, vector, p50", comments+loopName, "", comments+"vector"))
}
