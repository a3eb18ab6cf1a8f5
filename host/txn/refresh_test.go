package txn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// brief stores a record that lives for a second, and lets its time pass.
func (b *bench) brief(i int) {
	b.t.Helper()
	_, err := b.Run(context.Background(), txn.Options{ID: "brief"}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(i), func(storage.Record, bool) (storage.Record, any, error) {
			return storage.Record{Content: []byte("x"), Expires: tx.Now().Add(time.Second)}, nil, nil
		})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
}

// The removal of a record that the transaction saw as absent, because its life had ended, is not a conflict. A new record is.
func TestRemovedDeadRecordIsNoConflict(t *testing.T) {
	for _, tt := range []struct {
		name     string
		happens  func(b *bench)
		attempts int
	}{
		{"removed", func(b *bench) {
			if gone, err := b.backend.DeleteWhere(context.Background(), storage.Selector{Expired: b.now}, 10); len(gone) != 1 || err != nil {
				b.t.Errorf("DeleteWhere = %v, %v", gone, err)
			}
		}, 1},
		{"replaced", func(b *bench) { b.set(1, "new") }, 2},
		{"removed, and another that shares its floor", func(b *bench) {
			_, _ = b.backend.DeleteWhere(context.Background(), storage.Selector{Expired: b.now}, 10)
			b.set(1, "new")
			_, err := b.Run(context.Background(), txn.Options{ID: "delete"}, func(ctx context.Context, tx *txn.Tx) error {
				return tx.Apply(ctx, key(1), remove)
			})
			if err != nil {
				b.t.Error(err)
			}
		}, 2},
	} {
		for _, late := range []bool{false, true} { // after the body's last read
			t.Run(tt.name, func(t *testing.T) {
				b := newBench(t)
				b.brief(1)
				attempts := 0
				out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
					attempts++
					if got, err := tx.Get(ctx, key(1)); err != nil || got.Exists() && attempts == 1 {
						t.Errorf("Get = %v, %v", got, err)
					}
					if err := tx.Apply(ctx, key(1), put("mine")); err != nil {
						return err
					}
					next, err := tx.Get(ctx, key(1)) // with its revision
					if err != nil || attempts == 1 && next.Revision != 2 {
						t.Errorf("Get of the own record = %v, %v", next, err)
					}
					if attempts == 1 && !late {
						tt.happens(b)
					}
					if _, err := tx.Get(ctx, key(2)); err != nil {
						return err
					}
					if attempts == 1 && late {
						tt.happens(b)
					}
					return nil
				})
				if err != nil || attempts != tt.attempts || b.content(1) != "mine" || out.Attempts != attempts {
					t.Errorf("late %t: Run = %+v, %v after %d attempts; stored %q", late, out, err, attempts, b.content(1))
				}
			})
		}
	}
}

// What an undone update was decided on is looked at again before the body sees more of it: it may have ended meanwhile.
func TestUndoneUpdateOfADeadRecord(t *testing.T) {
	b, attempts := newBench(t), 0
	create := func(old storage.Record, _ bool) (storage.Record, any, error) {
		if old.Exists() {
			return old, nil, errRefused
		}
		return storage.Record{Content: []byte("new")}, nil, nil
	}
	b.brief(1)
	b.now = b.now.Add(-time.Minute) // it lives
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		attempts++
		err := tx.Nested(ctx, func(ctx context.Context, tx *txn.Tx) error {
			if err := tx.Apply(ctx, key(1), put("undone")); err != nil {
				return err
			}
			b.now = b.now.Add(time.Minute)
			if err := tx.Apply(ctx, key(2), put("undone")); err != nil {
				return err
			}
			return errThrown
		})
		if err != errThrown {
			return err
		}
		err = tx.Apply(ctx, key(1), create)
		if attempts == 1 && !errors.Is(err, txn.ErrConflict) {
			t.Errorf("Apply to a record that has ended = %v; want a conflict", err)
		}
		return err
	})
	if err != nil || attempts != 2 || b.content(1) != "new" {
		t.Errorf("Run = %v after %d attempts; stored %q", err, attempts, b.content(1))
	}
}

// Stored and Writes show the overlay with what lies beneath, alive or not.
func TestStoredAndWrites(t *testing.T) {
	b := newBench(t)
	b.brief(1)
	b.set(2, "two")
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		if tx.Stored(key(1)).Exists() {
			t.Error("Stored returns a record that was not touched")
		}
		for i, update := range []txn.Update{put("a"), remove, put("c")} {
			if err := tx.Apply(ctx, key(i+1), update); err != nil {
				return err
			}
		}
		var got []string
		for stored, next := range tx.Writes {
			got = append(got, string(stored.Content)+">"+string(next.Content))
		}
		if want := []string{"x>a", "two>", ">c"}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("Writes = %q; want %q", got, want)
		}
		if !tx.Stored(key(1)).Exists() {
			t.Error("Stored does not return a record whose life has ended")
		}
		return errThrown
	})
	if err != errThrown {
		t.Error(err)
	}
}

// An update that has not decided shows the body nothing: the key stays out of the read set.
func TestUndecidedUpdate(t *testing.T) {
	b := newBench(t)
	b.set(1, "a")
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		for _, refusal := range []error{txn.ErrUndecided, errRefused} {
			err := tx.Apply(ctx, key(1), func(old storage.Record, _ bool) (storage.Record, any, error) { return old, nil, refusal })
			if joined := refusal != txn.ErrUndecided; err != refusal || tx.Holds(key(1)) != joined {
				t.Errorf("Apply = %v, in the read set: %t", err, tx.Holds(key(1)))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Lock holds up a transaction's first commit, for the time of a lease at most.
func TestLock(t *testing.T) {
	b := newBench(t)
	unlock, err := b.Lock(context.Background(), key(1), key(2))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Lock(ended, key(2)); err != context.Canceled {
		t.Errorf("Lock with a context that ended = %v", err)
	}
	done := make(chan struct{})
	go func() { b.set(1, "x"); close(done) }()
	unlock()
	unlock() // twice is fine
	<-done
}
