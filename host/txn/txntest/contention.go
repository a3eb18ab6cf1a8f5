package txntest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// Counters is a set of records that transactions increment.
type Counters interface {
	// Increment runs a transaction that reads and increments the counters in the given order.
	// Increment returns the number of executions of the body.
	Increment(ctx context.Context, run string, counters ...int) (executions int, err error)
	// Value returns the value of a counter.
	Value(counter int) (int, error)
}

// contentionSeeds is the number of interleavings that each test in Contention runs.
const contentionSeeds = 20

// Contention runs transactions that use the same records. Each transaction must finish after a few
// attempts, and no transaction may starve. The function "open" returns the counters 1, 2 and 3 on a
// backend.
func Contention(t *testing.T, open func(t *testing.T, b storage.Backend) Counters) {
	tests := []struct {
		name string
		play func(*workload)
	}{
		{"one record", (*workload).oneRecord},
		{"newcomers", (*workload).newcomers},
		{"crossing", (*workload).crossing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(contentionSeeds) {
				synctest.Test(t, func(t *testing.T) {
					c := &workload{t: t, seed: seed, Scheduler: NewScheduler(mem.New(), rand.New(rand.NewPCG(seed, 2)))}
					c.counters = open(t, c.Scheduler)
					tt.play(c)
				})
			}
		})
	}
}

// workload is a set of transactions that increment the same counters.
type workload struct {
	*Scheduler
	t        *testing.T
	seed     uint64
	counters Counters
	runs     int
	// executions is the total number of executions of all bodies. The field maxExecutions is the
	// highest number of executions of one body.
	executions, maxExecutions int
}

func (c *workload) add(counters ...int) {
	c.runs++
	run := fmt.Sprint("r", c.runs)
	c.Go(run, func(ctx context.Context, _ *Task) {
		executions, err := c.counters.Increment(ctx, run, counters...)
		if err != nil {
			c.t.Errorf("seed %d: %s: %v", c.seed, run, err)
		}
		c.executions += executions
		c.maxExecutions = max(c.maxExecutions, executions)
	})
}

func (c *workload) run(between func()) {
	c.t.Helper()
	if err := c.Run(between); err != nil {
		c.t.Fatalf("seed %d: %v", c.seed, err)
	}
}

func (c *workload) wantValue(counter, want int) {
	c.t.Helper()
	if got, err := c.counters.Value(counter); err != nil || got != want {
		c.t.Errorf("seed %d: after %d transactions the counter is %d, %v", c.seed, want, got, err)
	}
}

// oneRecord runs transactions that conflict on one record. On average, each transaction must be
// executed about twice. The first execution determines which records a transaction uses. The second
// execution starts after the transaction has acquired the locks of the used records.
func (c *workload) oneRecord() {
	const n = 30
	for range n {
		c.add(1)
	}
	c.run(func() {})
	c.wantValue(1, n)
	if c.executions > 2*n+n/4 || c.maxExecutions > 4 {
		c.t.Errorf("seed %d: %d executions of %d transactions, and up to %d executions of one transaction; want about 2 per transaction", c.seed, c.executions, n, c.maxExecutions)
	}
}

// newcomers is a test in which new transactions start again and again. A transaction that had a
// conflict must finish nevertheless.
func (c *workload) newcomers() {
	for range 5 {
		c.add(1)
	}
	c.run(func() {
		if c.runs < 60 && c.Rand.IntN(4) == 0 {
			c.add(1)
		}
	})
	c.wantValue(1, c.runs)
	if c.maxExecutions > 4 {
		c.t.Errorf("seed %d: one of %d transactions was executed %d times, which is too often", c.seed, c.runs, c.maxExecutions)
	}
}

// crossing is a test in which transactions use the same records in different orders. The
// transactions must not deadlock.
func (c *workload) crossing() {
	for i := range 24 {
		c.add([][]int{{1, 2}, {2, 3}, {3, 1}, {2, 1}}[i%4]...)
	}
	if c.run(func() {}); c.maxExecutions > 8 {
		c.t.Errorf("seed %d: a transaction was executed %d times, which is too often", c.seed, c.maxExecutions)
	}
}
