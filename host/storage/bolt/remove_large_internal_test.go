package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// fillLarge writes n records of 1 MiB that have expired at epoch and end with "e".
func fillLarge(t *testing.T, b *Backend, n int) {
	t.Helper()
	content := bytes.Repeat([]byte("x"), 1<<20)
	for i := range n {
		k := testKey(fmt.Sprintf("%x", i*7919%1009))
		err := b.Update(t.Context(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			r := storage.Record{Key: k, Revision: 1, Content: content, Expires: epoch().Add(-time.Hour), Tags: []string{"e"}}
			return []storage.Write{{Record: r}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// peakHeap returns the most bytes that objects took while fn ran.
func peakHeap(fn func()) int64 {
	runtime.GC() // what was before does not count
	var peak uint64
	var watcher sync.WaitGroup
	stop := make(chan struct{})
	watcher.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				metrics.Read(sample)
				peak = max(peak, sample[0].Value.Uint64())
			}
		}
	})
	fn()
	close(stop)
	watcher.Wait()
	return int64(peak)
}

// TestRemovalHoldsNoContents removes 120 MiB in each way: in several commits, none of which reads them into memory.
func TestRemovalHoldsNoContents(t *testing.T) {
	const n = 120
	for _, test := range []struct {
		name   string
		remove func(b *Backend) (int, error)
	}{
		{"sweep", func(b *Backend) (int, error) { return sweepUpTo(t.Context(), b, epoch(), 1000) }},
		{"drop an end", func(b *Backend) (int, error) {
			gone, err := b.DeleteWhere(t.Context(), tagged("e"), 1000)
			return len(gone), err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := openTest(t)
			fillLarge(t, b, n)
			begun := countBegun(b)
			peak := peakHeap(func() {
				if got, err := test.remove(b); got != n || err != nil {
					t.Errorf("removed %d, %v; want %d", got, err, n)
				}
			})
			if *begun < n/8 {
				t.Errorf("%d records of 1 MiB were removed in %d commits; want at least %d", n, *begun, n/8)
			}
			if peak > 32<<20 {
				t.Errorf("the removal of 120 MiB held %d MiB; want less than 32", peak>>20)
			}
		})
	}
}

// TestNeighbourBetweenChunks has an update come while a removal is under way: it does not wait for all of it.
func TestNeighbourBetweenChunks(t *testing.T) {
	b := openTest(t)
	fillLarge(t, b, 12)
	var once sync.Once
	var neighbour sync.WaitGroup
	left := -1
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		return update(func(tx *bbolt.Tx) error {
			once.Do(func() { // the first chunk is under way
				neighbour.Go(func() {
					err := b.submit(context.Background(), sender{}, func(t *transaction) error {
						left = 0
						return t.tags.ForEach(func(_, _ []byte) error {
							left++
							return nil
						})
					})
					if err != nil {
						t.Error(err)
					}
				})
				for queued := 0; queued < 2; {
					b.queue.mu.Lock()
					queued = len(b.queue.items)
					b.queue.mu.Unlock()
				}
			})
			return fn(tx)
		})
	}
	if gone, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(gone) != 12 || err != nil {
		t.Errorf("Drop = %d, %v; want 12", len(gone), err)
	}
	neighbour.Wait()
	if left < 1 {
		t.Errorf("the update found %d records that are still to be removed; want some", left)
	}
}

// TestUnreadableInTheWay drops records behind more unreadable ones than one chunk looks at.
func TestUnreadableInTheWay(t *testing.T) {
	b := openTest(t)
	err := b.db.Update(func(tx *bbolt.Tx) error {
		for i := range maxRemoved + 10 {
			if err := tx.Bucket(recordsBucket).Put([]byte(testKey(fmt.Sprintf("bad%05d", i))), []byte("rubbish")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last := testKey("zzz")
	if err := count(b, last); err != nil {
		t.Fatal(err)
	}
	prefix, _ := last.Group()
	gone, err := b.DeleteWhere(t.Context(), storage.Selector{Prefix: prefix}, 10)
	if len(gone) != 1 || !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Drop = %d records, %v; want 1 and ErrCorrupt", len(gone), err)
	}
}

// TestLongRemovalEndsAChunk removes records each of which takes too much time to look at another.
func TestLongRemovalEndsAChunk(t *testing.T) {
	b := openTest(t)
	b.chunkTime = -1
	fillLarge(t, b, 5)
	begun := countBegun(b)
	if gone, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(gone) != 5 || err != nil {
		t.Errorf("DeleteWhere = %d, %v; want 5", len(gone), err)
	}
	if *begun < 5 {
		t.Errorf("the removal took %d transactions; want 5 at least", *begun)
	}
}
