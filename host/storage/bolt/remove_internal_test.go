package bolt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// countBegun returns a counter of write transactions. The counter includes transactions that are
// rolled back.
func countBegun(b *Backend) *int {
	n := new(int)
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		*n++
		return update(fn)
	}
	return n
}

// TestFruitlessSweep sweeps a slot with many records. At first, no record has expired. Later, only
// the last record has expired. Commits must not wait for the search. The search must check more
// records than one read transaction may check.
func TestFruitlessSweep(t *testing.T) {
	b, ctx := openTest(t), t.Context()
	first := slotOf(epoch())
	records := fill(t, b, 2*maxLooked+5, first.Add(8*time.Minute), 0)
	begun := countBegun(b)
	if n, err := sweepUpTo(t.Context(), b, first.Add(time.Minute), 10); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v; want 0", n, err)
	}
	if *begun != 0 {
		t.Errorf("a fruitless sweep began %d write transactions; want none", *begun)
	}

	s := search{at: first.Add(time.Minute)}
	steps := 0
	for ; !s.done; steps++ {
		if _, err := (&removal{b: b, limit: 10}).find(ctx, &s); err != nil {
			t.Fatal(err)
		}
	}
	if steps != 3 {
		t.Errorf("the search took %d read transactions; want 3", steps)
	}

	last := records[len(records)-1]
	last.Expires = first.Add(time.Second)
	err := b.Update(ctx, storage.Keys(last.Key), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: last}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := sweepUpTo(t.Context(), b, first.Add(time.Minute), 10); n != 1 || err != nil {
		t.Errorf("Sweep with one expired record after the others = %d, %v; want 1", n, err)
	}
	// Now all records have expired. The number of records exceeds the limit of one search.
	if n, err := sweepUpTo(t.Context(), b, first.Add(time.Hour), len(records)); n != len(records)-1 || err != nil {
		t.Errorf("Sweep = %d, %v; want %d", n, err, len(records)-1)
	}
}

// TestSweepAfterExtension extends the lifetime of a record after the search and before the commit.
func TestSweepAfterExtension(t *testing.T) {
	b := openTest(t)
	k := fill(t, b, 1, epoch(), 0)[0].Key
	errs := gather(b,
		func() error {
			return b.Update(context.Background(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: k, Revision: 2, Expires: epoch().Add(time.Hour)}}}, nil
			})
		},
		func() error {
			n, err := sweepUpTo(t.Context(), b, epoch(), 10)
			if n != 0 {
				t.Errorf("Sweep removed %d records; want none", n)
			}
			return err
		})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := revision(t, b, k); got != 2 {
		t.Errorf("the record has revision %d; want 2", got)
	}
}

// TestSweepCancelled cancels the context of a search.
func TestSweepCancelled(t *testing.T) {
	b := openTest(t)
	fill(t, b, 1, epoch(), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := sweepUpTo(ctx, b, epoch(), 10); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep = %d, %v; want context.Canceled", n, err)
	}
}

// fill writes n records in one update and returns the records. Each record expires one step after
// the previous record.
func fill(t *testing.T, b *Backend, n int, first time.Time, step time.Duration) []storage.Record {
	t.Helper()
	keys, records := make([]storage.Key, n), make([]storage.Record, n)
	writes := make([]storage.Write, n)
	for i := range n {
		keys[i] = testKey(fmt.Sprintf("s%06d", i))
		records[i] = storage.Record{Key: keys[i], Revision: 1, Expires: first.Add(time.Duration(i) * step)}
		writes[i].Record = records[i]
	}
	err := b.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) { return writes, nil })
	if err != nil {
		t.Fatal(err)
	}
	return records
}
