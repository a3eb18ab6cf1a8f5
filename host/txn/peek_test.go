package txn_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// The test reads a record only with Peek. The record must be in the effects, but a change of the
// record must not repeat the body.
func TestPeekJoinsNothing(t *testing.T) {
	b := newFixture(t)
	b.set(1, "one")
	b.set(2, "two")
	executions := 0
	out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		executions++
		found, err := tx.Peek(ctx, key(2), key(1), key(3))
		if err != nil || len(found) != 3 || string(found[0].Content) != "two" || string(found[1].Content) != "one" || found[2].Exists() {
			t.Fatalf("Peek = %v, %v", found, err)
		}
		b.set(1, "changed")
		return tx.Apply(ctx, key(4), put("four"))
	})
	if err != nil || executions != 1 || b.content(4) != "four" {
		t.Fatalf("Run = %v after %d executions; want one execution", err, executions)
	}
	revisions := map[storage.Key]int64{}
	for _, r := range out.Reads {
		revisions[r.Key] = r.Revision
	}
	if len(out.Reads) != 3 || revisions[key(1)] != 1 || revisions[key(2)] != 1 || revisions[key(3)] != 0 {
		t.Errorf("the reads are %v; want the three peeked records", out.Reads)
	}
}

// Peek must return records that the transaction wrote. A call to Get after Peek must add the record
// to the read set.
func TestPeekThenGet(t *testing.T) {
	b := newFixture(t)
	b.set(1, "one")
	executions := 0
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		if executions++; executions > 2 {
			t.Fatal("the body was executed three times; want at most two")
		}
		if err := tx.Apply(ctx, key(2), put("own")); err != nil {
			return err
		}
		found, err := tx.Peek(ctx, key(1), key(2))
		if err != nil || string(found[1].Content) != "own" {
			t.Fatalf("Peek = %v, %v; want the transaction's own write", found, err)
		}
		if _, err := tx.Get(ctx, key(1)); err != nil {
			return err
		}
		if executions == 1 {
			b.set(1, "changed")
		}
		return nil
	})
	if err != nil || executions != 2 {
		t.Errorf("Run = %v after %d executions; want two, because Get joins the read set", err, executions)
	}
}

// Peek counts toward MaxRecords.
func TestPeekIsBounded(t *testing.T) {
	b := newFixture(t)
	_, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
		var keys []storage.Key
		for i := range txn.MaxRecords + 1 {
			keys = append(keys, key(i))
		}
		_, err := tx.Peek(ctx, keys...)
		return err
	})
	if err != txn.ErrLimit {
		t.Errorf("Peek of too many records = %v; want ErrLimit", err)
	}
}
