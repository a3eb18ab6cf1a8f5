package txn_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// counters stores each counter in a record. The length of the content is the value of the counter.
type counters struct {
	b  storage.Backend
	db *txn.DB
}

func (c counters) Increment(ctx context.Context, run string, keys ...int) (executions int, err error) {
	_, err = c.db.Run(ctx, txn.Options{ID: run}, func(ctx context.Context, tx *txn.Tx) error {
		executions++
		return increment(keys...)(ctx, tx)
	})
	return executions, err
}

func (c counters) Value(i int) (int, error) {
	records, err := c.b.Get(context.Background(), key(i))
	if err != nil {
		return 0, err
	}
	return len(records[0].Content), nil
}

func TestContention(t *testing.T) {
	txntest.Contention(t, func(_ *testing.T, b storage.Backend) txntest.Counters {
		return counters{b, txn.New(txn.Config{Backend: b})}
	})
}

// increment returns a body that increments counters.
func increment(keys ...int) func(context.Context, *txn.Tx) error {
	return func(ctx context.Context, tx *txn.Tx) error {
		for _, i := range keys {
			r, err := tx.Get(ctx, key(i))
			if err != nil {
				return err
			}
			if err := tx.Apply(ctx, key(i), put(string(r.Content)+"x")); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestScanAmongInserts scans a range while other transactions repeatedly insert records into the
// range. The scanning transaction must finish. The inserts never conflict with each other.
func TestScanAmongInserts(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			s := txntest.NewScheduler(mem.New(), rand.New(rand.NewPCG(seed, 2)))
			db := txn.New(txn.Config{Backend: s})
			attempts, done := 0, false
			scan := func(ctx context.Context, tx *txn.Tx) error {
				attempts++
				if _, err := tx.Scan(ctx, storePrefix("t"), "", 1000); err != nil {
					return err
				}
				for i := range 10 { // one record per page, so that other tasks can run
					if _, err := tx.Get(ctx, itemKey("other", i)); err != nil {
						return err
					}
				}
				done = true
				return nil
			}
			s.Go("scan", func(ctx context.Context, _ *txntest.Task) {
				if _, err := db.Run(ctx, txn.Options{ID: "scan"}, scan); err != nil {
					t.Error(err)
				}
			})
			for n := range 3 {
				s.Go("insert", func(ctx context.Context, _ *txntest.Task) {
					for i := 0; i < 300 && !done; i++ {
						_, err := db.Run(ctx, txn.Options{}, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1000*n+i), put("x")) })
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			if err := s.Run(func() {}); err != nil || attempts > 4 {
				t.Errorf("seed %d: the scan was executed %d times, %v; want at most 4 times without an error", seed, attempts, err)
			}
		})
	}
}

// TestLeaseBoundsTheWait runs a transaction that does not release its locks. Other transactions
// must wait at most for the duration of a lease.
func TestLeaseBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFixture(t)
		ctx, cancel := context.WithCancel(context.Background())
		holding, slow := make(chan struct{}), make(chan error, 1)
		go func() {
			attempts := 0
			_, err := b.Run(ctx, txn.Options{ID: "slow"}, func(ctx context.Context, tx *txn.Tx) error {
				if err := increment(1)(ctx, tx); err != nil {
					return err
				}
				if attempts++; attempts == 1 {
					b.set(1, "7") // after a conflict, the next attempt acquires the lock
					return nil
				}
				close(holding)
				<-ctx.Done()
				return ctx.Err()
			})
			slow <- err
		}()
		<-holding
		start := time.Now()
		_, err := b.Run(context.Background(), txn.Options{ID: "next"}, increment(1))
		if waited := time.Since(start); err != nil || waited == 0 || waited > 3*time.Second {
			t.Errorf("Run = %v after %v behind a transaction that does not end", err, waited)
		}
		cancel()
		if err := <-slow; err != context.Canceled {
			t.Errorf("the slow transaction = %v; want context.Canceled", err)
		}
	})
}
