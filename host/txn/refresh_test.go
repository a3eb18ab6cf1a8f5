package txn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// setExpired stores a record that expires after a second, and advances the clock past the expiry.
func (b *fixture) setExpired(i int) {
	b.t.Helper()
	_, err := b.Run(context.Background(), txn.Options{ID: "set"}, func(ctx context.Context, tx *txn.Tx) error {
		return tx.Apply(ctx, key(i), func(*storage.Record, bool) (txn.State, any, error) {
			return txn.State{Content: []byte("x"), Expires: tx.Now().Add(time.Second)}, nil, nil
		})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
}

// TestRemovedExpiredRecord runs transactions that read an expired record. For a transaction, an
// expired record does not exist. The removal of the expired record must not be a conflict. The
// creation of a new record under the same key must be a conflict.
func TestRemovedExpiredRecord(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(b *fixture)
		attempts int
	}{
		{"removed", func(b *fixture) {
			if removed, err := b.backend.DeleteWhere(context.Background(), storage.Selector{Expired: b.now}, 10); len(removed) != 1 || err != nil {
				b.t.Errorf("DeleteWhere = %v, %v", removed, err)
			}
		}, 1},
		{"replaced", func(b *fixture) { b.set(1, "new") }, 2},
		{"removed, and its floor raised", func(b *fixture) {
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
		for _, late := range []bool{false, true} { // the record changes after the body's last read
			t.Run(tt.name, func(t *testing.T) {
				b := newFixture(t)
				b.setExpired(1)
				attempts := 0
				out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
					attempts++
					if got, err := tx.Get(ctx, key(1)); err != nil || got.Exists() && attempts == 1 {
						t.Errorf("Get = %v, %v", got, err)
					}
					if err := tx.Apply(ctx, key(1), put("mine")); err != nil {
						return err
					}
					next, err := tx.Get(ctx, key(1)) // the body sees the revision of its own write
					if err != nil || attempts == 1 && next.Revision != 2 {
						t.Errorf("Get of the own record = %v, %v", next, err)
					}
					if attempts == 1 && !late {
						tt.change(b)
					}
					if _, err := tx.Get(ctx, key(2)); err != nil {
						return err
					}
					if attempts == 1 && late {
						tt.change(b)
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

// TestUndoneUpdateOfExpiredRecord undoes an update of a record. After the update is undone, the
// record expires. The transaction must read the record again before the next read of the body.
func TestUndoneUpdateOfExpiredRecord(t *testing.T) {
	b, attempts := newFixture(t), 0
	create := func(old *storage.Record, _ bool) (txn.State, any, error) {
		if old.Exists() {
			return txn.State{}, nil, errRejected
		}
		return txn.State{Content: []byte("new")}, nil, nil
	}
	b.setExpired(1)
	b.now = b.now.Add(-time.Minute) // not expired yet
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
			t.Errorf("Apply to an expired record = %v; want a conflict", err)
		}
		return err
	})
	if err != nil || attempts != 2 || b.content(1) != "new" {
		t.Errorf("Run = %v after %d attempts; stored %q", err, attempts, b.content(1))
	}
}

// TestStoredAndWrites checks that Stored and Writes return the stored records, even if the records
// have expired.
func TestStoredAndWrites(t *testing.T) {
	b := newFixture(t)
	b.setExpired(1)
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
			t.Error("Stored does not return an expired record")
		}
		return errThrown
	})
	if err != errThrown {
		t.Error(err)
	}
}

// TestUndecidedUpdate applies an update that returns ErrUndecided. The key of the update must not
// join the read set, because the body learns nothing about the record.
func TestUndecidedUpdate(t *testing.T) {
	b := newFixture(t)
	b.set(1, "a")
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		for _, reason := range []error{txn.ErrUndecided, errRejected} {
			err := tx.Apply(ctx, key(1), func(old *storage.Record, _ bool) (txn.State, any, error) { return txn.State{}, nil, reason })
			if joined := reason != txn.ErrUndecided; err != reason || tx.Holds(key(1)) != joined {
				t.Errorf("Apply = %v, in the read set: %t", err, tx.Holds(key(1)))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLock checks that a transaction waits before its first commit until the lock is released.
func TestLock(t *testing.T) {
	b := newFixture(t)
	unlock, err := b.Lock(context.Background(), key(1), key(2))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Lock(ended, key(2)); err != context.Canceled {
		t.Errorf("Lock with a cancelled context = %v", err)
	}
	done := make(chan struct{})
	go func() { b.set(1, "x"); close(done) }()
	unlock()
	unlock() // a second call has no effect
	<-done
}
