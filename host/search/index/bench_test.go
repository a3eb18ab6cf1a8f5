package index_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// BenchmarkSearch searches 20,000 entries with vectors of 512 elements. The program bench/recall
// measures larger partitions.
func BenchmarkSearch(b *testing.B) {
	backend, kb := mem.New(), partition("t", "kb")
	random := rand.New(rand.NewPCG(5, 6))
	made := func() content {
		c := content{Vector: make([]float32, 512), Metadata: map[string]any{"n": random.IntN(10)}}
		for i := range c.Vector {
			c.Vector[i] = float32(random.NormFloat64()) / 23
		}
		var words []string
		for range 20 {
			words = append(words, fmt.Sprint("word", int(random.ExpFloat64()*300)))
		}
		c.Text = strings.Join(words, " ")
		return c
	}
	for i := range 20_000 {
		put(b, backend, item(kb, fmt.Sprint(i)), made(), time.Time{})
	}
	s := index.New(backend, index.Options{})
	defer s.Close()
	for _, mode := range index.Modes() {
		for _, text := range []string{"", `{"n": 3}`} {
			query := made()
			q := index.Query{Mode: mode, Text: query.Text, Vector: query.Vector, Limit: 10, Now: epoch, Filter: filter(b, text)}
			find(b, s, kb, q)
			b.Run(fmt.Sprint(string(mode), text), func(b *testing.B) {
				for b.Loop() {
					find(b, s, kb, q)
				}
			})
		}
	}
}
