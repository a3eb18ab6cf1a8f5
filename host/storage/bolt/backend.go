package bolt

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/toolrun/toolrun/host/storage"
)

var _ storage.Backend = (*Backend)(nil)

// errBroken is the error of all operations after bbolt has panicked while it held its locks.
var errBroken = errors.New("the database failed; close it and check the file")

// Backend is an open database. Backend is safe for concurrent use.
type Backend struct {
	file
	queue *queue
	space space
	stats stats
	free  freelist
	// deferred contains the changes that the indexes do not contain yet.
	deferred deferred
	broken   atomic.Bool
	// history contains the commits since the database was opened. The numbers of the commits are
	// the ids of bbolt's transactions.
	history *storage.History
	closed  func() error // the first call closes the database
	// batchTime is maxBatchTime. Tests set a longer delay if they count commits.
	batchTime time.Duration
	// chunkTime is maxRemovedTime. Tests set a lower limit.
	chunkTime time.Duration
	// update is a function that executes another function in a write transaction. Tests replace the
	// field to inject errors.
	update func(fn func(tx *bbolt.Tx) error) error
}

func newBackend(f file, o Options) *Backend {
	b := &Backend{file: f, queue: newQueue(), batchTime: maxBatchTime, chunkTime: maxRemovedTime}
	b.history = storage.NewHistory(lastCommit(f))
	b.free.stored.Store(hasFreelist(f))
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		store := false
		err := runWrite(f.db, func(tx *bbolt.Tx) error {
			f.db.AllocSize = growth(tx.Size()) // not used by readers
			store = b.free.begin(tx.Size())
			f.db.NoFreelistSync = !store
			return fn(tx)
		})
		if err == nil && store {
			b.free.stored.Store(true)
		}
		return err
	}
	b.space = space{minFree: o.MinFree, now: time.Now, disk: diskSpace}
	b.closed = sync.OnceValue(b.shutdown)
	return b
}

// runWrite executes fn in a write transaction and commits the transaction. If the commit panics,
// the transaction keeps its locks. In contrast, bbolt's Update would roll the transaction back
// after the panic. If the free list is not stored, the rollback would read all pages in a new
// goroutine. A damaged page would cause a panic in that goroutine, which would end the process.
func runWrite(db *bbolt.DB, fn func(tx *bbolt.Tx) error) error {
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback() // the rollback reads no pages, and fails only if the transaction has already ended
		return err
	}
	return tx.Commit()
}

// lastCommit returns the id of the newest transaction in a file, or the largest possible id if the
// newest transaction is unknown.
func lastCommit(f file) (id uint64) {
	id = math.MaxUint64
	_ = f.view(func(tx *bbolt.Tx) error {
		id = uint64(tx.ID())
		return nil
	})
	return id
}

// Get implements storage.Backend.
func (b *Backend) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []storage.Record
	err := b.read(func(tx *bbolt.Tx) (err error) {
		found, err = fetch(tx, keys)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Scan implements storage.Backend.
func (b *Backend) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	return scan(ctx, b, prefix, after, limit, decodeRecord)
}

// Heads implements storage.Backend.
func (b *Backend) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	return scan(ctx, b, prefix, after, limit, decodeHead)
}

func scan[T any](ctx context.Context, b *Backend, prefix, after storage.Key, limit int, decode func(*bbolt.Tx, storage.Key, []byte) (T, error)) ([]T, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []T
	err := b.read(func(tx *bbolt.Tx) error {
		c := tx.Bucket(recordsBucket).Cursor()
		for k, v := c.Seek([]byte(max(prefix, after))); k != nil && len(found) < limit; k, v = c.Next() {
			if !bytes.HasPrefix(k, []byte(prefix)) {
				break
			}
			if storage.Key(k) == after {
				continue
			}
			r, err := decode(tx, storage.Key(k), v)
			if err != nil {
				return err
			}
			found = append(found, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Close implements storage.Backend.
func (b *Backend) Close() error { return b.closed() }

func (b *Backend) shutdown() error {
	b.queue.close()
	b.free.want(func() {
		b.commit([]*request{{do: nothing, done: make(chan struct{})}}) // no other goroutine commits now
	})
	if b.broken.Load() {
		// In Close, bbolt would wait for its own locks forever. The memory mapping remains, but the
		// file can be unlocked and closed.
		return errors.Join(unlock(b.fd), b.fd.Close())
	}
	return b.db.Close()
}

// read calls fn in a read transaction, which is a snapshot of the database.
func (b *Backend) read(fn func(tx *bbolt.Tx) error) error {
	if b.broken.Load() {
		return errBroken
	}
	began := false
	err := b.view(func(tx *bbolt.Tx) error {
		began = true
		return fn(tx)
	})
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return storage.ErrClosed
	}
	if err != nil && !began {
		b.broken.Store(true)
	}
	return err
}
