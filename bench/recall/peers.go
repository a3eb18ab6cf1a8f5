package main

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/philippgille/chromem-go"

	"github.com/toolrun/toolrun/bench/measure"
)

// These are the names of the cases of the peers.
const (
	chromemName = "chromem-go, vector"
	loopName    = "a loop over all vectors"
)

// addPeers adds the cases that search a set without package index.
func (b *bench) addPeers(s *set) error {
	db := chromem.NewDB()
	collection, err := db.CreateCollection("bench", nil, func(context.Context, string) ([]float32, error) {
		panic("the embedding function was called, but every document and query must already have a vector")
	})
	if err != nil {
		return err
	}
	documents := make([]chromem.Document, len(s.entries))
	for i, e := range s.entries {
		documents[i] = chromem.Document{ID: strconv.Itoa(i), Content: e.Text, Embedding: e.Vector, Metadata: map[string]string{groupName: strconv.Itoa(i % groups)}}
	}
	if err := collection.AddDocuments(context.Background(), documents, runtime.NumCPU()); err != nil {
		return err
	}
	query := func(where map[string]string) func(_, n int) error {
		return func(_, n int) error {
			_, err := collection.QueryEmbedding(context.Background(), s.queries[n%queries].Vector, limit, where, nil)
			return err
		}
	}
	vectors := make([]float32, 0, len(s.entries)*dimension)
	for _, e := range s.entries {
		vectors = append(vectors, e.Vector...)
	}
	b.cases = append(b.cases,
		&measure.Case{Name: s.name + ": " + chromemName, Workers: 1, Call: query(nil)},
		&measure.Case{Name: s.name + ": " + chromemName + ", filter", Workers: 1, Call: query(map[string]string{groupName: "3"})},
		&measure.Case{Name: s.name + ": " + loopName, Workers: 1, Call: func(_, n int) error {
			loop(vectors, s.queries[n%queries].Vector)
			return nil
		}})
	return nil
}

// found is a vector that a loop has found.
type found struct {
	row   int
	score float32
}

// loop compares the query with all vectors and returns the most similar vectors. loop uses one
// goroutine for each processor.
func loop(vectors, query []float32) []found {
	workers, rows := runtime.GOMAXPROCS(0), len(vectors)/dimension
	parts := make([][]found, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var best []found
			for row := w * rows / workers; row < (w+1)*rows/workers; row++ {
				var score float32
				vector := vectors[row*dimension : (row+1)*dimension]
				for i, x := range query {
					score += x * vector[i]
				}
				if len(best) < limit || score > best[limit-1].score {
					at, _ := slices.BinarySearchFunc(best, score, func(f found, score float32) int { return cmp.Compare(score, f.score) })
					best = slices.Insert(best, at, found{row, score})
					best = best[:min(limit, len(best))]
				}
			}
			parts[w] = best
		})
	}
	wg.Wait()
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	return all[:min(limit, len(all))]
}
