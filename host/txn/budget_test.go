package txn_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// quota limits the number of an app's records. The function "reclaim" may remove some of the app's
// records.
type quota struct {
	records int64
	reclaim func() bool
}

func (q quota) Budget() storage.Budget {
	account, _ := key(1).Group()
	return storage.Budget{App: storage.Limit{Account: account, Max: storage.Usage{Records: q.records}}}
}

func (q quota) Reclaim(context.Context) bool { return q.reclaim != nil && q.reclaim() }

func isOver(err error) bool {
	_, over := errors.AsType[*storage.OverBudgetError](err)
	return over
}

// delete removes a record in a separate transaction.
func (b *fixture) delete(i int) {
	b.t.Helper()
	_, err := b.Run(context.Background(), txn.Options{ID: "delete"}, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(i), remove) })
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestBudget checks commits that exceed the budget. A commit that exceeds the budget must call the
// function "reclaim" once. If "reclaim" does not free enough space, the body must be executed once
// more. If the second commit also exceeds the budget, it must be rejected. If a dry run exceeds the
// budget, it must be rejected without a call to "reclaim".
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name      string
		frees     bool
		dry       bool
		attempts  int
		reclaimed int
		over      bool
	}{
		{name: "space can be reclaimed", frees: true, attempts: 1, reclaimed: 1},
		{name: "no space", attempts: 2, reclaimed: 2, over: true},
		{name: "dry run", frees: true, dry: true, attempts: 2, over: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newFixture(t)
			b.set(9, "x")
			attempts, reclaimed := 0, 0
			o := txn.Options{ID: "r", DryRun: tt.dry, Quota: quota{1, func() bool {
				if reclaimed++; tt.frees {
					b.delete(9)
				}
				return tt.frees
			}}}
			_, err := b.Run(context.Background(), o, func(ctx context.Context, tx *txn.Tx) error {
				attempts++
				return tx.Apply(ctx, key(1), put("x"))
			})
			if isOver(err) != tt.over || err != nil && !tt.over || attempts != tt.attempts || reclaimed != tt.reclaimed {
				t.Errorf("Run = %v after %d attempts and %d reclaims", err, attempts, reclaimed)
			}
			if stored := b.content(1); (stored == "x") == tt.over {
				t.Errorf("the record contains %q", stored)
			}
		})
	}
}

// TestBudgetCountsExtra checks that the records of OnCommit count toward the budget.
func TestBudgetCountsExtra(t *testing.T) {
	b := newFixture(t)
	o := txn.Options{ID: "r", Quota: quota{records: 1}, Extra: func() []storage.Key { return []storage.Key{key(8)} }, OnCommit: func(txn.Effects) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: key(8), Content: []byte("x")}}}, nil
	}}
	for _, o.DryRun = range []bool{false, true} {
		_, err := b.Run(context.Background(), o, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1), put("x")) })
		if !isOver(err) || b.content(1) != "" || b.content(8) != "" {
			t.Errorf("Run = %v; dry: %v", err, o.DryRun)
		}
	}
}

// fullBackend is a backend that has no free space while err is set.
type fullBackend struct {
	storage.Backend
	err error
}

func (f *fullBackend) Space() error { return f.err }

// TestNoSpace uses a backend without free space. Commits that increase the stored data must be
// rejected, and other commits must succeed. Reclaiming may free space.
func TestNoSpace(t *testing.T) {
	f := &fullBackend{}
	b := newFixture(t, func(of storage.Backend) storage.Backend { f.Backend = of; return f })
	b.set(1, "long")
	f.err = storage.ErrFull
	run := func(q txn.Quota, update txn.Update) error {
		_, err := b.Run(context.Background(), txn.Options{ID: "r", Quota: q}, func(ctx context.Context, tx *txn.Tx) error { return tx.Apply(ctx, key(1), update) })
		return err
	}
	if err := run(nil, put("longer")); !errors.Is(err, storage.ErrFull) || b.content(1) != "long" {
		t.Errorf("Run with a longer content = %v; stored %q", err, b.content(1))
	}
	if err := run(nil, put("s")); err != nil || b.content(1) != "s" {
		t.Errorf("Run with a shorter content = %v; stored %q", err, b.content(1))
	}
	if err := run(nil, remove); err != nil || b.content(1) != "" {
		t.Errorf("Run with a deletion = %v; stored %q", err, b.content(1))
	}
	frees := quota{reclaim: func() bool { f.err = nil; return true }}
	if err := run(frees, put("new")); err != nil || b.content(1) != "new" {
		t.Errorf("Run after space was reclaimed = %v; stored %q", err, b.content(1))
	}
}
