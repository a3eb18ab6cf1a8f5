package txn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// fixture is a DB on an in-memory backend with a fixed clock.
type fixture struct {
	t *testing.T
	*txn.DB
	backend storage.Backend
	now     time.Time
}

func newFixture(t *testing.T, wrap ...func(storage.Backend) storage.Backend) *fixture {
	b := &fixture{t: t, backend: mem.New(), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, w := range wrap {
		b.backend = w(b.backend)
	}
	b.DB = txn.New(txn.Config{Backend: b.backend, Now: func() time.Time { return b.now }})
	return b
}

func key(i int) storage.Key { return itemKey("t", i) }

func put(text string) txn.Update {
	return func(*storage.Record, bool) (txn.State, any, error) {
		return txn.State{Content: []byte(text)}, nil, nil
	}
}

func add(text string) txn.Update {
	return func(old *storage.Record, _ bool) (txn.State, any, error) {
		return txn.State{Content: append([]byte(text), old.Content...)}, nil, nil
	}
}

func remove(*storage.Record, bool) (txn.State, any, error) { return txn.State{}, nil, nil }

// set stores a content in a separate transaction.
func (b *fixture) set(i int, text string) {
	b.t.Helper()
	_, err := b.Run(context.Background(), txn.Options{ID: "set"}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(i), put(text))
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) content(i int) string {
	b.t.Helper()
	records, err := b.backend.Get(context.Background(), key(i))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(records[0].Content)
}

func TestFailedBodyStoresNothing(t *testing.T) {
	b := newFixture(t)
	out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		if err := tx.Apply(ctx, key(1), put("x")); err != nil {
			return err
		}
		return errThrown
	})
	if err != errThrown || out.Committed || b.content(1) != "" {
		t.Errorf("Run = %+v, %v; stored %q", out, err, b.content(1))
	}
}

// TestLeastRevision checks that the revision of a record is at least the revision that its update
// returns. The revisions of a key must increase even after a deletion.
func TestLeastRevision(t *testing.T) {
	b := newFixture(t)
	for _, step := range []struct {
		min, want int64 // 0, because the record is deleted
	}{{0, 1}, {100, 100}, {50, 101}, {0, 102}, {-5, 103}, {0, 0}, {7, 104}, {0, 0}, {200, 200}} {
		update := func(*storage.Record, bool) (txn.State, any, error) {
			return txn.State{Content: []byte("x"), Revision: step.min}, nil, nil
		}
		if step.want == 0 {
			update = remove
		}
		out, err := b.Run(t.Context(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
			if err := tx.Apply(ctx, key(1), update); err != nil {
				return err
			}
			if r, err := tx.Get(ctx, key(1)); err != nil || r.Revision != step.want {
				t.Errorf("min %d: Get = revision %d, %v; want %d", step.min, r.Revision, err, step.want)
			}
			return nil
		})
		if err != nil || out.Writes[0].New.Revision != step.want {
			t.Errorf("min %d: Run = %+v, %v; want revision %d", step.min, out, err, step.want)
		}
	}
}

func TestTxSeesItsWrites(t *testing.T) {
	b := newFixture(t)
	b.set(1, "one")
	out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		for _, step := range []struct {
			key    storage.Key
			update txn.Update
		}{{key(1), add("more ")}, {key(2), put("two")}, {key(3), put("three")}, {key(3), remove}} {
			if err := tx.Apply(ctx, step.key, step.update); err != nil {
				return err
			}
		}
		for i, want := range map[int]string{1: "more one", 2: "two", 3: ""} {
			if got, err := tx.Get(ctx, key(i)); err != nil || string(got.Content) != want || got.Exists() != (want != "") {
				t.Errorf("Get(%d) = %v, %v; want %q", i, got, err, want)
			}
		}
		rows, err := tx.Scan(ctx, storePrefix("t"), "", 10)
		if err != nil || len(rows) != 2 || rows[0].Revision != 2 || rows[1].Revision != 1 {
			t.Errorf("Scan = %v, %v", rows, err)
		}
		return nil
	})
	if err != nil || len(out.Writes) != 3 || out.Writes[0].New.Revision != 2 || b.content(2) != "two" {
		t.Errorf("Run = %+v, %v", out, err)
	}
}

// TestConflictCannotBeCaught runs bodies that ignore a conflict. The conflict is in the transaction
// or in a nested transaction. The attempt must fail.
func TestConflictCannotBeCaught(t *testing.T) {
	b := newFixture(t)
	b.set(1, "a")
	b.set(2, "a")
	attempts := 0
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		if attempts++; attempts > 1 {
			return nil
		}
		if _, err := tx.Get(ctx, key(1)); err != nil {
			return err
		}
		b.set(1, "b")
		err := tx.Nested(ctx, func(ctx context.Context, tx *txn.Tx) error {
			if _, err := tx.Get(ctx, key(2)); !errors.Is(err, txn.ErrConflict) {
				t.Errorf("Get = %v; want a conflict", err)
			}
			return nil
		})
		if !errors.Is(err, txn.ErrConflict) || !errors.Is(tx.Apply(ctx, key(3), put("x")), txn.ErrConflict) {
			t.Errorf("Nested = %v; want a conflict, after which all methods fail", err)
		}
		return nil
	})
	if err != nil || attempts != 2 {
		t.Errorf("Run = %v after %d attempts", err, attempts)
	}
}

// In TestConflictOfAnotherTransaction, the body returns the conflict of another transaction. The
// transaction must fail, and the body must not be executed again.
func TestConflictOfAnotherTransaction(t *testing.T) {
	b, executions := newFixture(t), 0
	_, err := b.Run(context.Background(), txn.Options{}, func(context.Context, *txn.Tx) error {
		executions++
		return fmt.Errorf("elsewhere: %w", txn.ErrConflict)
	})
	if executions != 1 || !errors.Is(err, txn.ErrConflict) {
		t.Errorf("Run = %v after %d executions", err, executions)
	}
}

// TestDeadlineCannotBeCaught ends the context of the outermost transaction. The transaction must
// fail even if the body returns nil. If the context of a nested transaction ends, only the nested
// transaction must fail.
func TestDeadlineCannotBeCaught(t *testing.T) {
	b := newFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := b.Run(ctx, txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		inner, stop := context.WithCancel(ctx)
		err := tx.Nested(inner, func(ctx context.Context, tx *txn.Tx) error {
			stop()
			_, err := tx.Get(ctx, key(1))
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Nested with a cancelled context = %v", err)
		}
		if err := tx.Apply(ctx, key(1), put("x")); err != nil {
			t.Errorf("Apply after Nested = %v", err)
		}
		err = tx.Nested(ctx, func(context.Context, *txn.Tx) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Nested after the root's context was cancelled = %v", err)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || b.content(1) != "" {
		t.Errorf("Run = %v, stored %q", err, b.content(1))
	}
}

func TestNestedIsBounded(t *testing.T) {
	b := newFixture(t)
	var deepest int
	var deeper func(ctx context.Context, tx *txn.Tx) error
	deeper = func(ctx context.Context, tx *txn.Tx) error {
		deepest++
		return tx.Nested(ctx, deeper)
	}
	_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		err := deeper(ctx, tx)
		for n := txn.MaxDepth; n < txn.MaxNested; n++ {
			if err := tx.Nested(ctx, func(context.Context, *txn.Tx) error { return nil }); err != nil {
				t.Errorf("nested transaction %d: %v", n, err)
			}
		}
		if err := tx.Nested(ctx, func(context.Context, *txn.Tx) error { return nil }); !errors.Is(err, txn.ErrNestedLimit) {
			t.Errorf("nested transaction %d = %v", txn.MaxNested+1, err)
		}
		return err
	})
	if !errors.Is(err, txn.ErrNestedLimit) || deepest != txn.MaxDepth+1 {
		t.Errorf("Run = %v at depth %d", err, deepest)
	}
}

// TestNestedPanicIsUndone checks that a panic in a nested body undoes the writes of that body.
func TestNestedPanicIsUndone(t *testing.T) {
	b := newFixture(t)
	_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		func() {
			defer func() { _ = recover() }()
			_ = tx.Nested(ctx, func(ctx context.Context, tx *txn.Tx) error {
				_ = tx.Apply(ctx, key(1), put("x"))
				panic("broken")
			})
		}()
		return tx.Apply(ctx, key(2), put("y"))
	})
	if err != nil || b.content(1) != "" || b.content(2) != "y" {
		t.Errorf("Run = %v; stored %q and %q", err, b.content(1), b.content(2))
	}
}

func TestReadSetIsBounded(t *testing.T) {
	b := newFixture(t)
	_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		for i := range txn.MaxRecords {
			if _, err := tx.Get(ctx, key(i)); err != nil {
				return err
			}
		}
		if _, err := tx.Get(ctx, key(txn.MaxRecords)); !errors.Is(err, txn.ErrLimit) {
			t.Errorf("read %d = %v", txn.MaxRecords+1, err)
		}
		if _, err := tx.Get(ctx, key(1)); err != nil { // the key is in the read set
			t.Errorf("a key in the read set: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRowsAreBounded(t *testing.T) {
	b := newFixture(t)
	keys, writes := make([]storage.Key, txn.MaxRecords+1), make([]storage.Write, txn.MaxRecords+1)
	for i := range keys {
		keys[i] = key(i)
		writes[i] = storage.Write{Record: storage.Record{Key: keys[i], Content: []byte("x"), Revision: 1}}
	}
	if err := b.backend.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) { return writes, nil }); err != nil {
		t.Fatal(err)
	}
	_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		rows, err := tx.Scan(ctx, storePrefix("t"), "", txn.MaxRecords)
		if err != nil || len(rows) != txn.MaxRecords {
			t.Errorf("Scan = %d rows, %v", len(rows), err)
		}
		if _, err := tx.Scan(ctx, storePrefix("t"), rows[len(rows)-1].Key, 1); !errors.Is(err, txn.ErrLimit) {
			t.Errorf("Scan of one more row = %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		_, err := tx.Scan(ctx, storePrefix("t"), "", txn.MaxRecords+1)
		return err
	}); err == nil {
		t.Error("a scan for more than MaxRecords succeeded")
	}
}

func TestReadBytesAreBounded(t *testing.T) {
	b := newFixture(t)
	const maximum = txn.MaxBytes / storage.MaxContentBytes
	large := strings.Repeat("x", storage.MaxContentBytes)
	for i := range maximum + 1 {
		b.set(i, large)
	}
	_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
		for i := range maximum {
			if _, err := tx.Get(ctx, key(i)); err != nil {
				return err
			}
		}
		if _, err := tx.Get(ctx, key(maximum)); !errors.Is(err, txn.ErrLimit) {
			t.Errorf("Get = %v", err)
		}
		_, err := tx.Scan(ctx, storePrefix("t"), key(1), 100)
		return err
	})
	if !errors.Is(err, txn.ErrLimit) {
		t.Errorf("Run = %v", err)
	}
}

// TestBlindUpdatesAreBounded checks that updates of a key stay blind only up to a maximum number
// and size. The first update that exceeds a maximum must add the key to the read set.
func TestBlindUpdatesAreBounded(t *testing.T) {
	b := newFixture(t)
	for _, tt := range []struct {
		name  string
		text  string
		blind int
	}{{"number", "x", txn.MaxUpdates}, {"bytes", strings.Repeat("x", txn.MaxBlindBytes/4), 1}} {
		_, err := b.Run(context.Background(), txn.Options{}, func(ctx context.Context, tx *txn.Tx) error {
			for range tt.blind {
				if err := tx.Apply(ctx, key(1), add(tt.text)); err != nil {
					return err
				}
			}
			if tx.Holds(key(1)) {
				t.Errorf("%s: the key is in the read set after %d updates", tt.name, tt.blind)
			}
			for range 2 {
				if err := tx.Apply(ctx, key(1), add(tt.text)); err != nil {
					return err
				}
			}
			if !tx.Holds(key(1)) {
				t.Errorf("%s: the key is not in the read set", tt.name)
			}
			return errThrown
		})
		if err != errThrown {
			t.Error(err)
		}
	}
}

// racingBackend is a backend that simulates another process. The simulated process writes a record
// before each update.
type racingBackend struct {
	storage.Backend
	remaining int
	interfere func()
}

func (m *racingBackend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if m.remaining > 0 {
		m.remaining--
		m.interfere()
	}
	return m.Backend.Update(ctx, on, fn)
}

// TestBlindUpdateAgainstAnotherProcess counts the repetitions of blind updates. A blind update of a
// large record must be repeated three times outside the backend's transaction, and then inside the
// backend's transaction. A blind update of a small record must be repeated inside the backend's
// transaction the first time.
func TestBlindUpdateAgainstAnotherProcess(t *testing.T) {
	t.Run("large", func(t *testing.T) { testBlindUpdate(t, strings.Repeat("m", 40<<10), 4) })
	t.Run("small", func(t *testing.T) { testBlindUpdate(t, "m", 1) })
}

func testBlindUpdate(t *testing.T, text string, wantOutside int) {
	var m *racingBackend
	b := newFixture(t, func(of storage.Backend) storage.Backend { m = &racingBackend{Backend: of}; return m })
	others, inside, outside := 0, 0, 0
	m.remaining = 10
	m.interfere = func() {
		others++
		err := m.Backend.Update(context.Background(), storage.Keys(key(1)), func(now []storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: key(1), Content: append(now[0].Content[:len(now[0].Content):len(now[0].Content)], 'o'), Revision: now[0].Revision + 1, Generation: "g"}}}, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(1), func(old *storage.Record, locked bool) (txn.State, any, error) {
			if locked {
				inside++
			} else {
				outside++
			}
			return txn.State{Content: append([]byte(text), old.Content...)}, nil, nil
		})
	})
	if want := text + strings.Repeat("o", others); err != nil || b.content(1) != want || out.Attempts != 1 || inside != 1 || outside != wantOutside {
		t.Errorf("Run = %d attempts, %v; stored %d bytes, want %d; %d updates inside, %d outside, want 1 and %d", out.Attempts, err,
			len(b.content(1)), len(want), inside, outside, wantOutside)
	}
}

// In TestUpdateThatRejectsTheLock, an update fails inside the backend's transaction. The body must
// be executed again.
func TestUpdateThatRejectsTheLock(t *testing.T) {
	var m *racingBackend
	b := newFixture(t, func(of storage.Backend) storage.Backend { m = &racingBackend{Backend: of}; return m })
	m.remaining = 20
	m.interfere = func() {
		_ = m.Backend.Update(context.Background(), storage.Keys(key(1)), func(now []storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: key(1), Content: []byte("o"), Revision: now[0].Revision + 1, Generation: "g"}}}, nil
		})
	}
	out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(1), func(old *storage.Record, locked bool) (txn.State, any, error) {
			if locked {
				return txn.State{}, nil, errRejected
			}
			return txn.State{Content: []byte("m")}, nil, nil
		})
	})
	if err != nil || b.content(1) != "m" || out.Attempts < 2 {
		t.Errorf("Run = %+v, %v; stored %q", out, err, b.content(1))
	}
}

func TestReadOnly(t *testing.T) {
	b := newFixture(t)
	_, err := b.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(1), put("x"))
	})
	if !errors.Is(err, txn.ErrReadOnly) {
		t.Errorf("Run = %v", err)
	}
}

func TestDryRun(t *testing.T) {
	b := newFixture(t)
	b.set(1, "old")
	out, err := b.Run(context.Background(), txn.Options{ID: "r", DryRun: true}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(1), put("new"))
	})
	if err != nil || out.Committed || len(out.Writes) != 1 || string(out.Writes[0].Old.Content) != "old" || string(out.Writes[0].New.Content) != "new" {
		t.Errorf("Run = %+v, %v", out, err)
	}
	if b.content(1) != "old" {
		t.Errorf("stored %q", b.content(1))
	}
}

func TestTxEndsWithItsBody(t *testing.T) {
	b := newFixture(t)
	var kept *txn.Tx
	if _, err := b.Run(context.Background(), txn.Options{}, func(_ context.Context, tx *txn.Tx) error { kept = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Get(context.Background(), key(1)); !errors.Is(err, txn.ErrOver) {
		t.Errorf("Get = %v", err)
	}
}

func TestGuardEndsTheRun(t *testing.T) {
	b := newFixture(t)
	guard := txn.Guard{Key: key(9), Check: func(r storage.Record, at time.Time) error {
		if !at.Equal(b.now) {
			t.Errorf("checked at %v", at)
		}
		if r.Exists() {
			return errClosed
		}
		return nil
	}}
	for _, body := range []func(context.Context, *txn.Tx) error{
		func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1), put("x")) },
		func(context.Context, *txn.Tx) error { return nil },
	} {
		if _, err := b.Run(context.Background(), txn.Options{Guards: []txn.Guard{guard}}, body); err != nil {
			t.Errorf("Run with an open guard = %v", err)
		}
	}
	b.set(9, "closed")
	for _, failure := range []error{nil, errThrown} {
		_, err := b.Run(context.Background(), txn.Options{Guards: []txn.Guard{guard}}, func(ctx context.Context, tx *txn.Tx) error {
			if err := tx.Apply(ctx, key(1), put("y")); err != nil {
				return err
			}
			return failure
		})
		if err != errClosed || b.content(1) != "x" {
			t.Errorf("Run with a closed guard = %v; stored %q", err, b.content(1))
		}
	}
}

func TestOnCommit(t *testing.T) {
	b := newFixture(t)
	calls := 0
	o := txn.Options{ID: "r", CommitAlways: true, Extra: func() []storage.Key { return []storage.Key{key(8)} }, OnCommit: func(e txn.Effects) ([]storage.Write, error) {
		calls++
		text := fmt.Sprint(len(e.Reads), len(e.Writes), e.Attempts)
		return []storage.Write{{Record: storage.Record{Key: key(8), Content: []byte(text)}}}, nil
	}}
	out, err := b.Run(context.Background(), o, func(ctx context.Context, tx *txn.Tx) error {
		_, err := tx.Get(ctx, key(1))
		return err
	})
	if err != nil || !out.Committed || b.content(8) != "1 0 1" || calls != 1 {
		t.Errorf("Run = %+v, %v; stored %q in %d calls", out, err, b.content(8), calls)
	}
	o.Extra = nil
	if _, err := b.Run(context.Background(), o, func(context.Context, *txn.Tx) error { return nil }); err == nil {
		t.Error("OnCommit wrote a key that is not in Extra")
	}
	o.OnCommit = func(txn.Effects) ([]storage.Write, error) { return nil, errThrown }
	if _, err := b.Run(context.Background(), o, func(context.Context, *txn.Tx) error { return nil }); err != errThrown {
		t.Errorf("Run with a failing OnCommit = %v", err)
	}
}

// lateBackend is a backend that simulates a write of another process before an update. The update
// of lateBackend starts only when ctx ends.
type lateBackend struct {
	storage.Backend
	interfere func()
}

func (l *lateBackend) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	l.interfere()
	<-ctx.Done()
	return l.Backend.Update(context.WithoutCancel(ctx), on, fn)
}

// TestConflictAtTheDeadline checks the error that Run returns if ctx ends after a conflict. If the
// deadline passes before the next attempt, Run must return the conflict. If the caller cancels ctx,
// Run must return the cancellation.
func TestConflictAtTheDeadline(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Millisecond)
		}, txn.ErrConflict},
		{"cancel", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &lateBackend{}
			b := newFixture(t, func(of storage.Backend) storage.Backend { l.Backend = of; return l })
			other := txn.New(txn.Config{Backend: l.Backend})
			l.interfere = func() {
				_, err := other.Run(context.Background(), txn.Options{ID: "o"}, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1), add("o")) })
				if err != nil {
					t.Error(err)
				}
			}
			ctx, cancel := tt.end(context.Background())
			defer cancel()
			_, err := b.Run(ctx, txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
				if _, err := tx.Get(ctx, key(1)); err != nil {
					return err
				}
				return tx.Apply(ctx, key(1), put("x"))
			})
			if !errors.Is(err, tt.want) || b.content(1) != "o" {
				t.Errorf("Run = %v; want %v", err, tt.want)
			}
		})
	}
}

// TestCounters runs transactions in parallel with the scheduler of Go, so that the race detector
// can check the code.
func TestCounters(t *testing.T) {
	b := newFixture(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
					r, err := tx.Get(ctx, key(1))
					if err != nil {
						return err
					}
					if err := tx.Apply(ctx, key(1), put(string(r.Content)+"x")); err != nil {
						return err
					}
					return tx.Apply(ctx, key(2), add("y"))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if x, y := len(b.content(1)), len(b.content(2)); x != 200 || y != 200 {
		t.Errorf("the counters are %d and %d; want 200", x, y)
	}
}
