package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// locked is a backend that measures how long functions run inside of its transactions. While such a
// function runs, all other updates wait.
type locked struct {
	storage.Backend
	mu      sync.Mutex
	longest time.Duration
}

func (b *locked) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	return b.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
		began := time.Now()
		defer func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.longest = max(b.longest, time.Since(began))
		}()
		return fn(now)
	})
}

// A blind merge does not read the record when the tool calls it. The Service applies an expensive
// blind merge outside of the transaction of the backend. Therefore a tool with many merges into one
// large record does not delay the commits of other runs.
func TestBlindMergesDelayNoCommit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	b := &locked{Backend: mem.New()}
	a := newApp(t, func(cfg *memory.Config) { cfg.Backend = b })
	a.must(ann, abi.SetContent, `"flags"`, `{"a":[`+strings.Repeat("0,", 90_000)+`0]}`, `{"replace":true}`)
	var wg sync.WaitGroup
	for run := range 2 {
		wg.Go(func() {
			_, err := a.transact(caller("", ""), func(ctx context.Context, v *memory.View) error {
				for n := range 20 { // more merges than the maximum number of blind merges
					patch := fmt.Sprintf(`{"k%d":%d}`, n%10, run)
					if _, err := v.Call(ctx, call(abi.SetContent, `"flags"`, patch)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("the longest transaction of the backend took %v", b.longest)
	if b.longest > 150*time.Millisecond {
		t.Errorf("a function ran for %v inside the backend's transaction; want less", b.longest)
	}
}

// The Service applies a small merge inside of the transaction of the backend. Therefore many runs
// that merge into one record can share a commit. No merge is lost.
func TestManySmallBlindMerges(t *testing.T) {
	a := newApp(t)
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			done, err := a.transact(caller("", ""), func(ctx context.Context, v *memory.View) error {
				_, err := v.Call(ctx, call(abi.SetContent, `"flags"`, fmt.Sprintf(`{"k%d":%d}`, n, n)))
				return err
			})
			if err != nil || done.Attempts != 1 {
				t.Errorf("merge %d took %d attempts: %v", n, done.Attempts, err)
			}
		})
	}
	wg.Wait()
	var got map[string]int
	if err := json.Unmarshal([]byte(a.must(ann, abi.GetContent, `"flags"`)), &got); err != nil || len(got) != 100 {
		t.Errorf("%d of 100 merges are stored, %v", len(got), err)
	}
}

// The type busy is a backend whose commits block until the context of the caller ends.
type busy struct{ storage.Backend }

func (busy) Update(ctx context.Context, _ storage.Footprint, _ func([]storage.Record) ([]storage.Write, error)) error {
	<-ctx.Done()
	return ctx.Err()
}

// A commit can wait for the backend. If the backend has not begun the commit before the deadline of
// the run, the run fails at the deadline and stores nothing.
func TestWaitingCommitEndsInTime(t *testing.T) {
	b := mem.New()
	a := newApp(t, func(cfg *memory.Config) { cfg.Backend = busy{b} })
	late := abi.Faultf(abi.Timeout, "too late")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, late)
	defer cancel()
	began := time.Now()
	_, err := a.Transact(ctx, &memory.Tx{Caller: partition.Caller{Tenant: "acme", Run: "r"}, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		_, err := v.Call(ctx, call(abi.SetContent, `"flags"`, `{"a":1}`))
		return err
	})
	if !errors.Is(err, abi.Timeout) || time.Since(began) > 10*time.Second {
		t.Errorf("Transact = %v after %v; want a timeout at the deadline", err, time.Since(began))
	}
	if found, err := b.Scan(context.Background(), "", "", 10); len(found) > 0 || err != nil {
		t.Errorf("Scan = %v, %v; want no records", found, err)
	}
}

// slowReads is a backend whose reads block until the context of the caller ends.
type slowReads struct{ storage.Backend }

func (slowReads) Get(ctx context.Context, _ ...storage.Key) ([]storage.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (slowReads) Read(ctx context.Context, _ []storage.Key, _ storage.Held) ([]storage.Record, storage.Position, error) {
	<-ctx.Done()
	return nil, storage.Position{}, ctx.Err()
}

// If the deadline interrupts a transaction at its start or in its body, the error of the
// transaction must be the cause of the deadline.
func TestInterruptedTransaction(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Backend = slowReads{mem.New()} })
	late := abi.Faultf(abi.Timeout, "too late")
	wait := func(ctx context.Context, _ *memory.View) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, caller := range map[string]partition.Caller{
		"the start reads the session": {Tenant: "acme", Run: "r", User: "ann", Session: "s"},
		"the body waits":              {Tenant: "acme", Run: "r"},
	} {
		ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, late)
		defer cancel()
		if _, err := a.Transact(ctx, &memory.Tx{Caller: caller, Authority: memory.Operator()}, wait); err != late {
			t.Errorf("%s: Transact = %v; want the cause: %v", name, err, late)
		}
	}
}
