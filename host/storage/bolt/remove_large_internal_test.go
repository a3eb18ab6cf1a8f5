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

// fillLarge writes n records of 1 MiB. Each record has the tag "e" and the expiry "epoch".
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

// peakHeap returns the maximum heap size, in bytes, during fn.
func peakHeap(fn func()) int64 {
	runtime.GC() // exclude earlier garbage
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

// TestRemovalHoldsNoContents removes 120 MiB in two ways: by expiry and by tag. The removal must
// use several commits and must not read contents into memory.
func TestRemovalHoldsNoContents(t *testing.T) {
	const n = 120
	for _, test := range []struct {
		name   string
		remove func(b *Backend) (int, error)
	}{
		{"sweep", func(b *Backend) (int, error) { return sweepUpTo(t.Context(), b, epoch(), 1000) }},
		{"delete a tag", func(b *Backend) (int, error) {
			removed, err := b.DeleteWhere(t.Context(), tagged("e"), 1000)
			return len(removed), err
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
				t.Errorf("the removal of 120 MiB used %d MiB; want less than 32", peak>>20)
			}
		})
	}
}

// TestUpdateBetweenChunks sends an update during a removal. The update must not wait until the
// removal has ended.
func TestUpdateBetweenChunks(t *testing.T) {
	b := openTest(t)
	fillLarge(t, b, 12)
	var once sync.Once
	var updates sync.WaitGroup
	left := -1
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		return update(func(tx *bbolt.Tx) error {
			once.Do(func() { // the first chunk is in progress
				updates.Go(func() {
					err := b.submit(context.Background(), sender{}, func(t *transaction) error {
						left = 0
						return t.tx.Bucket(tagsBucket).ForEach(func(_, _ []byte) error {
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
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(removed) != 12 || err != nil {
		t.Errorf("DeleteWhere = %d, %v; want 12", len(removed), err)
	}
	updates.Wait()
	if left < 1 {
		t.Errorf("the update found %d records that are still to be removed; want some", left)
	}
}

// TestUnreadableRecordsFirst removes readable records that follow unreadable records. The number of
// unreadable records exceeds the limit of one chunk.
func TestUnreadableRecordsFirst(t *testing.T) {
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
	removed, err := b.DeleteWhere(t.Context(), storage.Selector{Prefix: prefix}, 10)
	if len(removed) != 1 || !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("DeleteWhere = %d records, %v; want 1 and ErrCorrupt", len(removed), err)
	}
}

// TestLongRemovalEndsAChunk removes records. Each removed record takes the maximum time of a chunk,
// so each chunk removes one record.
func TestLongRemovalEndsAChunk(t *testing.T) {
	b := openTest(t)
	b.chunkTime = -1
	fillLarge(t, b, 5)
	begun := countBegun(b)
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(removed) != 5 || err != nil {
		t.Errorf("DeleteWhere = %d, %v; want 5", len(removed), err)
	}
	if *begun < 5 {
		t.Errorf("the removal took %d transactions; want at least 5", *begun)
	}
}
