package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// crowd is a stage full of transactions on the same records, the most contended thing there is.
type crowd struct {
	*stage
	t    *testing.T
	db   *txn.DB
	runs int
	// executions are of all bodies, and most how often one was executed at the most.
	executions, most int
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{t: t, stage: newStage(mem.New(), rand.New(rand.NewPCG(seed, 2)))}
	c.changed = func(*actor) {}
	c.db = txn.New(txn.Config{Backend: c.stage})
	return c
}

// add adds a transaction.
func (c *crowd) add(body func(context.Context, *txn.Tx) error) {
	c.runs++
	id := fmt.Sprint("r", c.runs)
	c.spawn(id, func(ctx context.Context, _ *actor) {
		executions := 0
		_, err := c.db.Run(ctx, txn.Options{ID: id}, func(ctx context.Context, tx *txn.Tx) error {
			executions++
			return body(ctx, tx)
		})
		if err != nil {
			c.t.Errorf("run %s: %v", id, err)
		}
		c.executions += executions
		c.most = max(c.most, executions)
	})
}

// raise raises counters by one.
func raise(keys ...int) func(context.Context, *txn.Tx) error {
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

func (c *crowd) count(i int) int {
	records, err := c.Backend.Get(context.Background(), key(i))
	if err != nil {
		c.t.Fatal(err)
	}
	return len(records[0].Content)
}

func (c *crowd) playOut(seed uint64, meanwhile func()) {
	c.t.Helper()
	defer c.stop()
	if c.play(meanwhile); c.err != nil {
		c.t.Fatalf("seed %d: %v", seed, c.err)
	}
}

// Transactions that meet on one record are executed twice, about: once to learn what they touch, once in their turn.
func TestCrowdOnOneRecord(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			const n = 30
			for range n {
				c.add(raise(1))
			}
			c.playOut(seed, func() {})
			if got := c.count(1); got != n {
				t.Errorf("seed %d: %d runs counted to %d", seed, n, got)
			}
			if c.executions > 2*n+n/4 || c.most > 4 {
				t.Errorf("seed %d: %d executions of %d runs, one run %d times; want about 2 each", seed, c.executions, n, c.most)
			}
		})
	}
}

// A transaction that lost once gets through while new ones keep coming, which never lost and would overtake it.
func TestCrowdWithNewcomers(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			for range 5 {
				c.add(raise(1))
			}
			c.playOut(seed, func() {
				if c.runs < 60 && c.rng.IntN(4) == 0 {
					c.add(raise(1))
				}
			})
			if got := c.count(1); got != c.runs || c.most > 4 {
				t.Errorf("seed %d: %d runs counted to %d; one was executed %d times", seed, c.runs, got, c.most)
			}
		})
	}
}

// Transactions that touch the same records in different orders do not wait for each other for ever.
func TestCrossingCrowd(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			for i := range 24 {
				c.add(raise([][]int{{1, 2}, {2, 3}, {3, 1}, {2, 1}}[i%4]...))
			}
			if c.playOut(seed, func() {}); c.most > 8 {
				t.Errorf("seed %d: one run was executed %d times", seed, c.most)
			}
		})
	}
}

// A transaction that scans a range gets through while others keep inserting into it, which never conflict themselves.
func TestScanInACrowd(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			attempts, done := 0, false
			c.add(func(ctx context.Context, tx *txn.Tx) error {
				attempts++
				if _, err := tx.Scan(ctx, storePrefix("t"), "", 1000); err != nil {
					return err
				}
				for i := range 10 { // the more it reads, the more happens meanwhile
					if _, err := tx.Get(ctx, itemKey("other", i)); err != nil {
						return err
					}
				}
				done = true
				return nil
			})
			for n := range 3 {
				c.spawn("insert", func(ctx context.Context, _ *actor) {
					for i := 0; i < 300 && !done; i++ {
						_, err := c.db.Run(ctx, txn.Options{}, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1000*n+i), put("x")) })
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			if c.playOut(seed, func() {}); attempts > 4 {
				t.Errorf("seed %d: the scan was executed %d times", seed, attempts)
			}
		})
	}
}

// A transaction that sits on its locks holds the others up for the time of a lease at most.
func TestLeaseBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, cancel := context.WithCancel(context.Background())
		holding, slow := make(chan struct{}), make(chan error, 1)
		go func() {
			attempts := 0
			_, err := b.Run(ctx, txn.Options{ID: "slow"}, func(ctx context.Context, tx *txn.Tx) error {
				if err := raise(1)(ctx, tx); err != nil {
					return err
				}
				if attempts++; attempts == 1 {
					b.set(1, "7") // a conflict, so that the next attempt has the lock
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
		_, err := b.Run(context.Background(), txn.Options{ID: "next"}, raise(1))
		if waited := time.Since(start); err != nil || waited == 0 || waited > 3*time.Second {
			t.Errorf("%v after %v behind a transaction that does not end", err, waited)
		}
		cancel()
		if err := <-slow; err != context.Canceled {
			t.Errorf("the slow one ended with %v", err)
		}
	})
}

var _ storage.Backend = (*stage)(nil)
