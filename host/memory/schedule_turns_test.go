package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// crowd is a stage full of runs that raise counters, the most contended thing there is.
type crowd struct {
	*stage
	service    *memory.Service
	runs       int
	executions int
	// most is how often one run was executed at the most.
	most int
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{stage: newStage(mem.New(), rand.New(rand.NewPCG(seed, 2)))}
	service, err := memory.New(memory.Config{App: "shop", Backend: c.stage, Stores: stores()})
	if err != nil {
		t.Fatal(err)
	}
	c.service = service
	return c
}

// add lets one more run raise the counters in some stores by one.
func (c *crowd) add(t *testing.T, stores ...string) {
	c.runs++
	id := partition.Caller{Tenant: "acme", User: "ann", Run: fmt.Sprint(c.runs)}
	c.spawn(id.Run, func(ctx context.Context, a *actor) {
		executions := 0
		_, err := c.service.Transact(ctx, memory.Tx{Caller: id, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
			executions++
			for _, store := range stores {
				if err := raise(ctx, v, store); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("run %s: %v", id.Run, err)
		}
		c.executions += executions
		c.most = max(c.most, executions)
	})
}

func raise(ctx context.Context, v *memory.View, store string) error {
	reply, err := v.Call(ctx, call(abi.GetContent, store))
	if err != nil {
		return err
	}
	var counter struct{ N int }
	if err := json.Unmarshal(reply, &counter); err != nil {
		return err
	}
	_, err = v.Call(ctx, call(abi.SetContent, store, fmt.Sprintf(`{"n":%d}`, counter.N+1)))
	return err
}

func (c *crowd) counter(t *testing.T, store string) (n int) {
	reply, _, err := c.service.Do(context.Background(), ann, memory.Operator(), call(abi.GetContent, store))
	var counter struct{ N int }
	if err != nil || json.Unmarshal(reply, &counter) != nil {
		t.Fatalf("counter = %s, %v", reply, err)
	}
	return counter.N
}

// Runs that meet on one record are executed twice, about: once to learn what they touch, once in their turn.
func TestTurnsOnOneRecord(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			const n = 30
			for range n {
				c.add(t, `"notes"`)
			}
			if err := c.play(func() {}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := c.counter(t, `"notes"`); got != n {
				t.Errorf("seed %d: %d runs counted to %d", seed, n, got)
			}
			if c.executions > 2*n+n/4 || c.most > 4 {
				t.Errorf("seed %d: %d executions of %d runs, one run %d times; want about 2 each", seed, c.executions, n, c.most)
			}
		})
	}
}

// A run that lost once gets through while new runs keep coming, which never lost and would overtake it.
func TestTurnsWithAStreamOfNewRuns(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			for range 5 {
				c.add(t, `"notes"`)
			}
			err := c.play(func() {
				if c.runs < 60 && c.rng.IntN(4) == 0 {
					c.add(t, `"notes"`)
				}
			})
			if got := c.counter(t, `"notes"`); err != nil || got != c.runs {
				t.Errorf("seed %d: %d runs counted to %d, %v", seed, c.runs, got, err)
			}
			if c.most > 4 {
				t.Errorf("seed %d: one of %d runs was executed %d times", seed, c.runs, c.most)
			}
		})
	}
}

// Runs that touch the same records in different orders do not wait for each other for ever.
func TestTurnsOfCrossingRuns(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, seed)
			for i := range 24 {
				c.add(t, [][]string{{`"notes"`, `"flags"`}, {`"flags"`, `"loose"`}, {`"loose"`, `"notes"`}, {`"flags"`, `"notes"`}}[i%4]...)
			}
			if err := c.play(func() {}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if c.most > 8 {
				t.Errorf("seed %d: one run was executed %d times", seed, c.most)
			}
		})
	}
}

// A run that sits on its turn, because its guest is slow, holds the others up for the time of a lease at most.
func TestALeaseBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t)
		ctx, cancel := context.WithCancel(context.Background())
		inTurn, slow := make(chan struct{}), make(chan error, 1)
		go func() {
			attempts := 0
			_, err := a.Transact(ctx, memory.Tx{Caller: caller("ann", ""), Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
				if err := raise(ctx, v, `"notes"`); err != nil {
					return err
				}
				if attempts++; attempts == 1 {
					a.must(ann, abi.SetContent, `"notes"`, `{"n":7}`)
					return nil // which conflicts, so that the next attempt has the turn
				}
				close(inTurn)
				<-ctx.Done()
				return ctx.Err()
			})
			slow <- err
		}()
		<-inTurn
		start := time.Now()
		_, err := a.transact(caller("ann", ""), func(ctx context.Context, v *memory.View) error { return raise(ctx, v, `"notes"`) })
		if waited := time.Since(start); err != nil || waited == 0 || waited > 3*time.Second {
			t.Errorf("%v after %v behind a run that does not end; want a lease's time", err, waited)
		}
		cancel()
		if err := <-slow; !errors.Is(err, context.Canceled) {
			t.Errorf("the slow run ended with %v", err)
		}
	})
}
