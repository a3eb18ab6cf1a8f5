package index_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// TestStats searches three partitions: two large partitions, of which only one fits in memory, and
// a small partition without an index.
func TestStats(t *testing.T) {
	b, one, two, small := mem.New(), partition("t", "one"), partition("t", "two"), partition("t", "small")
	fill(t, b, one, 300)
	fill(t, b, two, 300)
	fill(t, b, small, 3)
	all := index.New(b, index.Options{})
	defer all.Close()
	q := queries(t)[0]
	find(t, all, one, q)
	bytes := all.Stats().Bytes
	s := index.New(b, index.Options{Bytes: bytes + bytes/2})
	defer s.Close()
	for range 2 {
		find(t, s, one, q)
	}
	find(t, s, small, q)
	if got := s.Stats(); got.Indexes != 1 || got.Entries != 300 || got.Bytes != bytes || got.Limit != bytes+bytes/2 ||
		got.Searches != 3 || got.Scans != 1 || got.Builds != 1 || got.Evictions != 0 || got.SearchTime <= 0 {
		t.Errorf("Stats = %+v; want one index of %d bytes after three searches", got, bytes)
	}
	find(t, s, two, q)
	if got := s.Stats(); got.Indexes != 1 || got.Entries != 300 || got.Searches != 4 || got.Builds != 2 || got.Evictions != 1 {
		t.Errorf("Stats = %+v; want one index and one eviction", got)
	}
	s.Evict(under(two))
	if got := s.Stats(); got.Indexes != 0 || got.Entries != 0 || got.Bytes != 0 || got.Evictions != 1 {
		t.Errorf("Stats = %+v after Evict; want no index", got)
	}
}
