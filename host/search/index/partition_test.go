package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// backend is a storage backend with hooks for tests.
type backend struct {
	storage.Backend
	scans atomic.Int64
	// largest is the size of the contents on the largest page that Scan returned.
	largest atomic.Int64
	// If onScan is not nil, it is called before each call of Scan.
	onScan func() error
	// If tooOld is true, the next call of Changes fails.
	tooOld atomic.Bool
	// If late is true, Changes returns no changes.
	late atomic.Bool
}

func (b *backend) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	b.scans.Add(1)
	if b.onScan != nil {
		if err := b.onScan(); err != nil {
			return nil, err
		}
	}
	records, err := b.Backend.Scan(ctx, prefix, after, limit)
	var size int64
	for _, r := range records {
		size += int64(len(r.Content))
	}
	b.largest.Store(max(size, b.largest.Load()))
	return records, err
}

func (b *backend) Changes(ctx context.Context, prefix storage.Key, since storage.Position, limit int) ([]storage.Changed, storage.Position, error) {
	if b.tooOld.CompareAndSwap(true, false) {
		return nil, storage.Position{}, storage.ErrTooOld
	}
	if b.late.Load() {
		return nil, since, nil
	}
	return b.Backend.Changes(ctx, prefix, since, limit)
}

// randomContent returns an entry with words of the vocabulary, a vector and metadata.
func randomContent(random *rand.Rand) content {
	c := content{Metadata: map[string]any{"n": random.IntN(10), "even": random.IntN(2) == 0}}
	for range random.IntN(6) {
		c.Text += vocabulary[random.IntN(len(vocabulary))] + " "
	}
	c.Vector = grid(random.IntN(33)-16, random.IntN(33)-16, random.IntN(33)-16)
	return c
}

// fill stores n entries and returns them.
func fill(t testing.TB, b storage.Backend, prefix storage.Key, n int) []index.Entry {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	entries := make([]index.Entry, n)
	for i := range entries {
		entries[i] = put(t, b, item(prefix, fmt.Sprint(i)), randomContent(random), time.Time{})
	}
	return entries
}

// queries returns searches in all modes, with and without a filter.
func queries(t testing.TB) (all []index.Query) {
	t.Helper()
	for _, mode := range index.Modes() {
		for _, text := range []string{``, `{"n": 3}`, `{"n": {"gte": 8}, "even": true}`, `{"n": {"in": [1, 2, 99]}}`, `{"m": 1}`} {
			all = append(all, index.Query{Mode: mode, Text: "renewal of the trip", Vector: grid(3, -5, 14), Limit: 20, Now: epoch, Filter: filter(t, text)})
		}
	}
	return all
}

// compare compares the hits of searches with the hits of the reference implementation.
func compare(t testing.TB, s *index.Set, prefix storage.Key, entries []index.Entry) {
	t.Helper()
	for _, q := range queries(t) {
		if got, want := describe(find(t, s, prefix, q)), describe(naive(t, entries, q)); got != want {
			t.Errorf("Search(%+v):\n%s\nwant:\n%s", q, got, want)
		}
	}
}

// TestManyEntries searches a partition that is large enough for two goroutines.
func TestManyEntries(t *testing.T) {
	b, kb := mem.New(), partition("t", "kb")
	entries := fill(t, b, kb, 17_000)
	s := index.New(b, index.Options{})
	defer s.Close()
	compare(t, s, kb, entries)
	if !index.Indexed(s, kb) {
		t.Error("the partition has no index")
	}
}

// TestCloseVectors searches vectors with nearly equal scores. The scores of the vectors differ by
// less than the rounding errors of the rounded vectors.
func TestCloseVectors(t *testing.T) {
	b, kb := mem.New(), partition("t", "kb")
	random := rand.New(rand.NewPCG(3, 4))
	vector := func() []float32 {
		v, sum := make([]float32, 65), 0.0
		for i := range v {
			v[i] = 1 + float32(random.NormFloat64())/20
			sum += float64(v[i] * v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	var entries []index.Entry
	for _, i := range random.Perm(2000) {
		entries = append(entries, put(t, b, item(kb, fmt.Sprint(i)), content{Vector: vector()}, time.Time{}))
	}
	s := index.New(b, index.Options{})
	defer s.Close()
	for range 20 {
		q := index.Query{Mode: index.Vector, Vector: vector(), Limit: 10, Now: epoch}
		if got, want := describe(find(t, s, kb, q)), describe(naive(t, entries, q)); got != want {
			t.Errorf("Search:\n%s\nwant:\n%s", got, want)
		}
	}
}

// TestEvict evicts one of two partitions.
func TestEvict(t *testing.T) {
	b, one, two := mem.New(), partition("t", "one"), partition("t", "two")
	s := index.New(b, index.Options{})
	defer s.Close()
	entries := fill(t, b, one, 300)
	compare(t, s, one, entries)
	compare(t, s, two, fill(t, b, two, 400))
	s.Evict(under(two))
	if !index.Indexed(s, one) || index.Indexed(s, two) {
		t.Errorf("after Evict, the partitions have indexes: %v and %v; want true and false", index.Indexed(s, one), index.Indexed(s, two))
	}
	if group, _ := one.Group(); group != "" {
		s.Evict(under(group))
	}
	if s.Bytes() != 0 {
		t.Errorf("%d bytes are left; want none", s.Bytes())
	}
	compare(t, s, one, entries)
}

// TestCompaction replaces and removes entries until the index is compacted several times.
func TestCompaction(t *testing.T) {
	b, kb := mem.New(), partition("t", "kb")
	entries := fill(t, b, kb, 600)
	s := index.New(b, index.Options{})
	defer s.Close()
	compare(t, s, kb, entries)
	size, random := s.Bytes(), rand.New(rand.NewPCG(1, 2))
	for range 10 {
		for i, e := range entries {
			entries[i] = put(t, b, e.Key, randomContent(random), time.Time{})
		}
		compare(t, s, kb, entries)
	}
	if s.Bytes() > 3*size {
		t.Errorf("the index of %d bytes grew to %d bytes", size, s.Bytes())
	}
	for _, e := range entries[100:] {
		remove(t, b, e.Key)
	}
	compare(t, s, kb, entries[:100])
	if s.Bytes() > size {
		t.Errorf("the index of %d bytes has %d bytes after most entries were removed", size, s.Bytes())
	}
}

// TestTooOld checks that a Set reads all entries again if the history of the backend no longer
// contains the position of the Set.
func TestTooOld(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	entries := fill(t, b, kb, 300)
	s := index.New(b, index.Options{})
	defer s.Close()
	compare(t, s, kb, entries)
	remove(t, b, entries[0].Key)
	entries[1] = put(t, b, entries[1].Key, content{Text: "renewal"}, time.Time{})
	b.tooOld.Store(true)
	compare(t, s, kb, entries[1:])
	if b.tooOld.Load() {
		t.Error("the changes were not read")
	}
}

// TestRefresh searches for entries whose changes the backend has not reported yet.
func TestRefresh(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	entries := fill(t, b, kb, 300)
	s := index.New(b, index.Options{})
	defer s.Close()
	s.Refresh(entries[0].Key)
	compare(t, s, kb, entries)
	b.late.Store(true)
	remove(t, b, entries[0].Key)
	entries[1] = put(t, b, entries[1].Key, content{Text: "renewal trip"}, time.Time{})
	s.Refresh(entries[0].Key, entries[1].Key, "not a key", item(partition("t", "other"), "1"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Search(ctx, kb, decode, queries(t)[0]); err == nil {
		t.Error("Search with a cancelled context succeeded")
	}
	compare(t, s, kb, entries[1:])
	for range 20 { // refresh more keys than a Set stores
		for _, e := range entries {
			s.Refresh(e.Key)
		}
	}
	remove(t, b, entries[1].Key)
	s.Refresh(entries[1].Key)
	compare(t, s, kb, entries[2:])
	b.late.Store(false)
	compare(t, s, kb, entries[2:])
}

// TestChangesDuringBuild changes entries between the pages of the first read.
func TestChangesDuringBuild(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	entries := fill(t, b, kb, 700)
	s := index.New(b, index.Options{})
	defer s.Close()
	b.onScan = func() error {
		n := b.scans.Load()
		entries[0] = put(t, b.Backend, entries[0].Key, content{Text: fmt.Sprint("renewal trip ", n)}, time.Time{})
		if n == 3 {
			remove(t, b.Backend, entries[len(entries)-1].Key)
			entries = entries[:len(entries)-1]
		}
		return nil
	}
	find(t, s, kb, queries(t)[0])
	b.onScan = nil
	compare(t, s, kb, entries)
}

// TestCancelled cancels searches. If the first read of an index was interrupted, a later search
// completes the read.
func TestCancelled(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	entries := fill(t, b, kb, 2000)
	s := index.New(b, index.Options{})
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	b.onScan = func() error {
		if b.scans.Load() == 20 {
			cancel()
		}
		return nil
	}
	if _, err := s.Search(ctx, kb, decode, queries(t)[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("Search during a cancellation = %v", err)
	}
	compare(t, s, kb, entries)
	if n := b.scans.Load(); n > 50 { // a read that begins again would read 65 pages
		t.Errorf("%d pages were read; want the interrupted read to be continued", n)
	}
	if _, err := s.Search(ctx, kb, decode, queries(t)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a cancelled context = %v", err)
	}
}

// TestSingleBuild searches a partition concurrently. Only one of the searches must read all
// entries.
func TestSingleBuild(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	fill(t, b, kb, 2000)
	s := index.New(b, index.Options{})
	defer s.Close()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { find(t, s, kb, queries(t)[0]) })
	}
	wg.Wait()
	if n := b.scans.Load(); n > 40+20*6 { // each search can read the pages with the first 256 entries
		t.Errorf("%d pages were read; want at most 160", n)
	}
}

// TestSmallPartition checks that a small partition has no index.
func TestSmallPartition(t *testing.T) {
	b, kb := mem.New(), partition("t", "kb")
	entries := fill(t, b, kb, 255)
	s := index.New(b, index.Options{})
	defer s.Close()
	compare(t, s, kb, entries)
	if s.Bytes() != 0 {
		t.Errorf("the index of 255 entries has %d bytes; want none", s.Bytes())
	}
	compare(t, s, kb, append(entries, put(t, b, item(kb, "one more"), content{Text: "renewal"}, time.Time{})))
	if !index.Indexed(s, kb) {
		t.Error("256 entries have no index")
	}
}

// TestNewDimension replaces all vectors with vectors that have another number of elements, as after
// a change of the embedder.
func TestNewDimension(t *testing.T) {
	b, kb := mem.New(), partition("t", "kb")
	entries := fill(t, b, kb, 300)
	s := index.New(b, index.Options{})
	defer s.Close()
	compare(t, s, kb, entries)
	q := index.Query{Text: "renewal", Vector: grid(1, 2, 3, 4, 5), Limit: 400, Now: epoch}
	for i, e := range entries {
		entries[i] = put(t, b, e.Key, content{Text: e.Text, Vector: grid(i%16, 1, 2, 3, 4)}, time.Time{})
		if i%100 == 50 {
			compare(t, s, kb, entries)
		}
		if i%100 == 99 {
			if got, want := describe(find(t, s, kb, q)), describe(naive(t, entries, q)); got != want {
				t.Fatalf("Search after %d replacements:\n%s\nwant:\n%s", i, got, want)
			}
		}
	}
}

// TestErrors checks the errors of Search.
func TestErrors(t *testing.T) {
	for _, n := range []int{10, 300} {
		b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
		entries := fill(t, b, kb, n)
		s := index.New(b, index.Options{})
		broken := errors.New("broken")
		_, err := s.Search(context.Background(), kb, func(storage.Record) (index.Entry, error) { return index.Entry{}, broken }, queries(t)[0])
		if !errors.Is(err, broken) {
			t.Errorf("Search with a failing Decode = %v", err)
		}
		b.onScan = func() error { return broken }
		if _, err := s.Search(context.Background(), partition("t", "other"), decode, queries(t)[0]); !errors.Is(err, broken) {
			t.Errorf("Search in a failing backend = %v", err)
		}
		b.onScan = nil
		compare(t, s, kb, entries)
		s.Close()
		s.Close()
		compare(t, s, kb, entries)
		if s.Bytes() != 0 {
			t.Errorf("a closed Set has %d bytes", s.Bytes())
		}
	}
}

// TestConcurrent runs concurrent writes and searches on two partitions. A writer must find the
// entries that the writer has committed. A writer must not find removed entries or entries of the
// other partition.
func TestConcurrent(t *testing.T) {
	b := mem.New()
	s := index.New(b, index.Options{})
	defer s.Close()
	prefixes := []storage.Key{partition("t", "one"), partition("t", "two")}
	for _, prefix := range prefixes {
		fill(t, b, prefix, 300)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			mine, other := prefixes[worker%2], prefixes[1-worker%2]
			random := rand.New(rand.NewPCG(7, uint64(worker)))
			for n := range 60 {
				id, word := fmt.Sprint("w", worker), fmt.Sprintf("unique%dn%d", worker, n)
				put(t, b, item(mine, id), content{Text: word, Vector: grid(16, 0, 0)}, time.Time{})
				q := index.Query{Mode: index.Text, Text: word, Limit: 5, Now: epoch}
				if hits := find(t, s, mine, q); len(hits) != 1 || hits[0].Key != item(mine, id) {
					t.Errorf("Search for a committed entry = %s", describe(hits))
				}
				if hits := find(t, s, other, q); len(hits) != 0 {
					t.Errorf("Search in another partition = %s", describe(hits))
				}
				put(t, b, item(mine, fmt.Sprint(random.IntN(300))), randomContent(random), time.Time{})
				remove(t, b, item(mine, id))
				if hits := find(t, s, mine, q); len(hits) != 0 {
					t.Errorf("Search for a removed entry = %s", describe(hits))
				}
				if n%20 == 10 {
					s.Evict(under(mine))
				}
			}
		})
	}
	wg.Wait()
	for _, prefix := range prefixes {
		records, err := b.Scan(context.Background(), prefix, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		var entries []index.Entry
		for _, r := range records {
			e, err := decode(r)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
		compare(t, s, prefix, entries)
	}
}

// sizeOf returns the size of the index of some entries.
func sizeOf(t testing.TB, b storage.Backend, entries []index.Entry) int64 {
	t.Helper()
	s := index.New(b, index.Options{})
	defer s.Close()
	prefix := entries[0].Key[:len(entries[0].Key)-len(item("", entries[0].Key.Part(storage.Item)))]
	compare(t, s, prefix, entries)
	return s.Bytes()
}

// TestMemory checks that groups share the memory. If a group does not exceed its share of the
// memory, other groups must not evict the indexes of this group.
func TestMemory(t *testing.T) {
	b := mem.New()
	small := partition("small", "kb")
	entries := fill(t, b, small, 300)
	size := sizeOf(t, b, entries)
	s := index.New(b, index.Options{Bytes: 5 * size})
	defer s.Close()
	compare(t, s, small, entries)
	var large []storage.Key
	for i := range 8 {
		large = append(large, partition("large", fmt.Sprint(i)))
		compare(t, s, large[i], fill(t, b, large[i], 300))
		if s.Bytes() > 5*size {
			t.Errorf("the indexes have %d bytes; the limit is %d", s.Bytes(), 5*size)
		}
	}
	if !index.Indexed(s, small) {
		t.Error("the group within its share was evicted")
	}
	var indexed []bool
	for _, prefix := range large {
		indexed = append(indexed, index.Indexed(s, prefix))
	}
	if want := []bool{false, false, false, false, true, true, true, true}; !slices.Equal(indexed, want) {
		t.Errorf("the indexes of the large group in memory are %v; want the last used ones: %v", indexed, want)
	}
	more := fill(t, b, partition("small", "more"), 300)
	compare(t, s, partition("small", "more"), more)
	if !index.Indexed(s, partition("small", "more")) || !index.Indexed(s, small) || index.Indexed(s, large[4]) {
		t.Error("a group within its share did not get memory from the larger group")
	}
}

// TestLargeEntries searches large entries without an index. The search must read fewer entries per
// page than a search of small entries.
func TestLargeEntries(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	for i := range 100 {
		put(t, b.Backend, item(kb, fmt.Sprint(i)), content{Text: strings.Repeat("x", 200<<10)}, time.Time{})
	}
	s := index.New(b, index.Options{})
	defer s.Close()
	find(t, s, kb, queries(t)[0])
	if largest := b.largest.Load(); largest > 5<<20 {
		t.Errorf("a page has %d bytes; want at most 5 MiB", largest)
	}
}

// TestSearchEndsWithContext checks that a search ends soon after its context, with and without an
// index: the work for one large entry can take milliseconds.
func TestSearchEndsWithContext(t *testing.T) {
	for _, entries := range []int{20, 300} {
		b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
		fill(t, b, kb, entries)
		s := index.New(b, index.Options{})
		defer s.Close()
		index.SetMinEntries(s, 100)
		ctx, cancel := context.WithCancel(t.Context())
		decoded := 0
		count := func(r storage.Record) (index.Entry, error) {
			if decoded++; decoded == entries-5 {
				cancel()
			}
			return decode(r)
		}
		if _, err := s.Search(ctx, kb, count, queries(t)[0]); !errors.Is(err, context.Canceled) || decoded != entries-5 {
			t.Errorf("Search decoded %d of %d entries, %v; want %d and context.Canceled", decoded, entries, err, entries-5)
		}
	}
}

// TestSpaces checks that a search does not compare the vectors of another space, although both spaces
// have the same dimension.
func TestSpaces(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	fill(t, b, kb, 300)
	s := index.New(b, index.Options{})
	defer s.Close()
	q := index.Query{Vector: grid(1, 2, 3), Mode: index.Vector, Limit: 300, Space: "old"}
	if hits, err := s.Search(t.Context(), kb, decode, q); err != nil || len(hits) == 0 {
		t.Fatalf("Search = %d hits, %v", len(hits), err)
	}
	q.Space = "new"
	hits, err := s.Search(t.Context(), kb, func(r storage.Record) (index.Entry, error) {
		e, err := decode(r)
		e.Vector = nil // the entry has not been moved yet
		return e, err
	}, q)
	if err != nil || len(hits) != 0 {
		t.Errorf("Search in a space without vectors = %d hits, %v; want none", len(hits), err)
	}
}

// TestUnfit searches a partition whose index does not fit in memory.
func TestUnfit(t *testing.T) {
	b, kb := &backend{Backend: mem.New()}, partition("t", "kb")
	entries := fill(t, b, kb, 1000)
	limit := sizeOf(t, b, fill(t, b, partition("t", "small"), 300)) * 3 / 2
	s := index.New(b, index.Options{Bytes: limit})
	defer s.Close()
	compare(t, s, kb, entries)
	if s.Bytes() > limit || index.Indexed(s, kb) {
		t.Errorf("the indexes have %d bytes; want at most %d", s.Bytes(), limit)
	}
	before := b.scans.Load()
	find(t, s, kb, queries(t)[0])
	if n := b.scans.Load() - before; n != 17 {
		t.Errorf("a search reads %d pages; want 17, without an attempt to build the index", n)
	}
	for _, e := range entries[300:] {
		remove(t, b, e.Key)
	}
	for range 100 {
		find(t, s, kb, queries(t)[0])
	}
	if compare(t, s, kb, entries[:300]); !index.Indexed(s, kb) {
		t.Error("the partition has no index although it has become smaller")
	}
}

// The function "under" returns a function that returns true for prefixes that begin with a key.
func under(key storage.Key) func(storage.Key) bool {
	return func(prefix storage.Key) bool { return prefix.HasPrefix(key) }
}
