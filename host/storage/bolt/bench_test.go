package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// The benchmarks compare the backend with plain bbolt. In plain bbolt, the benchmarks write the
// same number of bytes as in the backend.

var (
	benchContent = bytes.Repeat([]byte("x"), 1000)
	benchBucket  = []byte("records")
)

func benchKey(i int) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.Store, Value: "prefs"}, storage.Part{Tag: storage.Item, Value: fmt.Sprintf("item%06d", i)},
	)
}

// benchTagged selects the records of benchKeys by a tag.
func benchTagged(tag string) storage.Selector {
	group, _ := benchKey(0).Group()
	return storage.Selector{Group: group, Tag: tag}
}

// benchUpdate reads a record and writes its next revision, like the commit of a run.
func benchUpdate(b *testing.B, backend storage.Backend, i int) {
	k := benchKey(i)
	err := backend.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
		next := storage.Record{Key: k, Revision: now[0].Revision + 1, Generation: "0123456789", Content: benchContent}
		next.Updated = time.UnixMicro(1900000000000000)
		return []storage.Write{{Record: next}}, nil
	})
	if err != nil {
		b.Error(err)
	}
}

func openBare(b *testing.B) *bbolt.DB {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(benchBucket)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// bareUpdate does the same work as benchUpdate directly in bbolt.
func bareUpdate(tx *bbolt.Tx, i int) error {
	k := []byte(benchKey(i))
	bucket := tx.Bucket(benchBucket)
	value := make([]byte, 0, 1100)
	if old := bucket.Get(k); len(old) > 50 {
		value = append(value, old[:50]...)
	} else {
		value = append(value, make([]byte, 50)...)
	}
	return bucket.Put(k, append(value, benchContent...))
}

func BenchmarkUpdateOneWriter(b *testing.B) {
	b.Run("bolt", func(b *testing.B) {
		backend := openNew(b, nil)
		for i := 0; b.Loop(); i++ {
			benchUpdate(b, backend, i%1000)
		}
	})
	b.Run("bare", func(b *testing.B) {
		db := openBare(b)
		for i := 0; b.Loop(); i++ {
			if err := db.Update(func(tx *bbolt.Tx) error { return bareUpdate(tx, i%1000) }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// groupCommit is a minimal group commit. A group commit commits the updates of many goroutines in
// one transaction.
type groupCommit struct {
	db    *bbolt.DB
	mu    sync.Mutex
	queue []bareRequest
	wake  chan struct{}
}

type bareRequest struct {
	i    int
	done chan error
}

func (g *groupCommit) update(i int) error {
	r := bareRequest{i: i, done: make(chan error, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, r)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
	return <-r.done
}

func (g *groupCommit) run() {
	for range g.wake {
		g.mu.Lock()
		batch := g.queue
		g.queue = nil
		g.mu.Unlock()
		err := g.db.Update(func(tx *bbolt.Tx) error {
			for _, r := range batch {
				if err := bareUpdate(tx, r.i); err != nil {
					return err
				}
			}
			return nil
		})
		for _, r := range batch {
			r.done <- err
		}
	}
}

// spread calls the function "update" in 256 goroutines.
func spread(b *testing.B, update func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				update(int(n) % 1000)
			}
		})
	}
	wg.Wait()
}

func BenchmarkUpdate256Writers(b *testing.B) {
	b.Run("bolt", func(b *testing.B) {
		backend := openNew(b, nil)
		b.ResetTimer()
		spread(b, func(i int) { benchUpdate(b, backend, i) })
	})
	b.Run("bare", func(b *testing.B) {
		g := &groupCommit{db: openBare(b), wake: make(chan struct{}, 1)}
		go g.run()
		b.ResetTimer()
		spread(b, func(i int) {
			if err := g.update(i); err != nil {
				b.Error(err)
			}
		})
		b.StopTimer()
		close(g.wake)
	})
}

func BenchmarkGet(b *testing.B) {
	b.Run("bolt", func(b *testing.B) {
		backend := openNew(b, nil)
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() { benchUpdate(b, backend, i) })
		}
		wg.Wait()
		for i := 0; b.Loop(); i++ {
			if _, err := backend.Get(context.Background(), benchKey(i%1000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		db := openBare(b)
		err := db.Update(func(tx *bbolt.Tx) (err error) {
			for i := range 1000 {
				err = bareUpdate(tx, i)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			err := db.View(func(tx *bbolt.Tx) error {
				bytes.Clone(tx.Bucket(benchBucket).Get([]byte(benchKey(i % 1000))))
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
