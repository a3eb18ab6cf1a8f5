package txn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// meter is a backend that measures the reads and writes of its updates.
type meter struct {
	storage.Backend
	keys, bytes int // maximum over all updates
}

func (m *meter) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	return m.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
		writes, err := fn(now)
		bytes := 0
		for _, r := range now {
			bytes += len(r.Content)
		}
		for _, w := range writes {
			bytes += len(w.Record.Content)
		}
		m.keys, m.bytes = max(m.keys, len(on.Keys)), max(m.bytes, bytes)
		return writes, err
	})
}

// TestCommitIsBounded checks that a commit reads and writes a bounded number of records and bytes,
// even if the body writes many records. Commits need a bound, because other commits wait for each
// commit.
func TestCommitIsBounded(t *testing.T) {
	small, large := strings.Repeat("x", 10), strings.Repeat("x", storage.MaxContentBytes)
	medium := strings.Repeat("x", txn.MaxBlindBytes)
	write := func(update txn.Update) func(ctx context.Context, tx *txn.Tx, i int) error {
		return func(ctx context.Context, tx *txn.Tx, i int) error { return tx.Apply(ctx, key(i), update) }
	}
	for _, tt := range []struct {
		name, before string
		write        func(ctx context.Context, tx *txn.Tx, i int) error
		writes       int
	}{
		{"small", "", write(put(small)), txn.MaxWrites},
		{"deletes", small, write(remove), txn.MaxWrites},
		{"large", "", write(put(large)), 2},
		{"large, replaced", large, write(put(large)), 1},
		{"large, deleted", large, write(remove), 2},
		{"medium, replaced", medium, write(put(medium)), 4},
		{"undone", "", func(ctx context.Context, tx *txn.Tx, i int) error {
			if i%20 == 0 { // the undone writes must not count toward the limits
				err := tx.Nested(ctx, func(ctx context.Context, tx *txn.Tx) error {
					return errors.Join(tx.Apply(ctx, key(5000+i), put(medium)), errThrown)
				})
				if !errors.Is(err, errThrown) || errors.Is(err, txn.ErrLimit) {
					return err
				}
			}
			return tx.Apply(ctx, key(i), put(small))
		}, txn.MaxWrites},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &meter{}
			b := newFixture(t, func(of storage.Backend) storage.Backend { m.Backend = of; return m })
			for i := 0; tt.before != "" && i <= tt.writes; i++ {
				b.set(i, tt.before)
			}
			m.keys, m.bytes = 0, 0
			out, err := b.Run(context.Background(), txn.Options{ID: "r"}, func(ctx context.Context, tx *txn.Tx) error {
				for i := range tt.writes {
					if err := tt.write(ctx, tx, i); err != nil {
						t.Fatalf("write %d: %v", i+1, err)
					}
				}
				if err := tt.write(ctx, tx, tt.writes); !errors.Is(err, txn.ErrLimit) {
					t.Errorf("write %d = %v; want ErrLimit", tt.writes+1, err)
				}
				return tx.Apply(ctx, key(0), remove) // always fits
			})
			if err != nil || len(out.Writes) < tt.writes-1 {
				t.Errorf("Run = %d writes, %v", len(out.Writes), err)
			}
			const floors = 16
			if m.keys > txn.MaxWrites+floors || m.bytes > txn.MaxWriteBytes {
				t.Errorf("the commit handled %d keys and %d bytes; want at most %d and %d", m.keys, m.bytes, txn.MaxWrites+floors, txn.MaxWriteBytes)
			}
		})
	}
}
