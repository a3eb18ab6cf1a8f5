package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// counters is a set of counters. Each counter is the field "n" of a record.
type counters struct{ *memory.Service }

var counterStores = []string{"", `"notes"`, `"flags"`, `"loose"`}

func (c counters) Increment(ctx context.Context, run string, counters ...int) (executions int, err error) {
	tx := memory.Tx{Caller: partition.Caller{Tenant: "acme", User: "ann", Run: run}, Authority: memory.Operator()}
	_, err = c.Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error {
		executions++
		for _, i := range counters {
			if err := raise(ctx, v, counterStores[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return executions, err
}

func (c counters) Value(i int) (int, error) {
	reply, _, err := c.Do(context.Background(), ann, memory.Operator(), call(abi.GetContent, counterStores[i]))
	if err != nil {
		return 0, err
	}
	var counter struct{ N int }
	err = json.Unmarshal(reply, &counter)
	return counter.N, err
}

func TestContention(t *testing.T) {
	txntest.Contention(t, func(t *testing.T, b storage.Backend) txntest.Counters {
		service, err := memory.New(memory.Config{App: "shop", Backend: b, Stores: stores()})
		if err != nil {
			t.Fatal(err)
		}
		return counters{service}
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

// If the tool code of a run is slow, other runs wait at most for the duration of a lease.
func TestLeaseBoundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t)
		ctx, cancel := context.WithCancel(context.Background())
		locked, slow := make(chan struct{}), make(chan error, 1)
		go func() {
			attempts := 0
			_, err := a.Transact(ctx, &memory.Tx{Caller: caller("ann", ""), Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
				if err := raise(ctx, v, `"notes"`); err != nil {
					return err
				}
				if attempts++; attempts == 1 {
					a.must(ann, abi.SetContent, `"notes"`, `{"n":7}`)
					return nil // this attempt conflicts, so the next attempt acquires the lock
				}
				close(locked)
				<-ctx.Done()
				return ctx.Err()
			})
			slow <- err
		}()
		<-locked
		start := time.Now()
		_, err := a.transact(caller("ann", ""), func(ctx context.Context, v *memory.View) error { return raise(ctx, v, `"notes"`) })
		if waited := time.Since(start); err != nil || waited == 0 || waited > 3*time.Second {
			t.Errorf("Transact = %v after a wait of %v for a slow run; want success after the duration of a lease", err, waited)
		}
		cancel()
		if err := <-slow; !errors.Is(err, context.Canceled) {
			t.Errorf("Transact of the slow run = %v", err)
		}
	})
}
