package bolt

import (
	"context"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// TestExpirySlot writes a record several times. The expiry times of the writes differ slightly. The
// index entry must stay the same, but a sweep must use the exact expiry time in the record.
func TestExpirySlot(t *testing.T) {
	b, ctx, k := openTest(t), context.Background(), testKey("s")
	first := slotOf(epoch())
	for i := range 3 {
		expires := first.Add(time.Duration(i+1) * time.Second)
		err := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: k, Revision: int64(i + 1), Expires: expires}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := expiryTimes(t, b); len(got) != 1 || !got[0].Equal(first) {
			t.Fatalf("after write %d the index holds %v; want only %v", i+1, got, first)
		}
	}
	for _, sweep := range []struct {
		at   time.Time
		want int
	}{{first.Add(3*time.Second - 1), 0}, {first.Add(3 * time.Second), 1}} {
		if n, err := sweepUpTo(ctx, b, sweep.at, 10); err != nil || n != sweep.want {
			t.Errorf("Sweep at %v = %d, %v; want %d", sweep.at, n, err, sweep.want)
		}
	}
	if got := expiryTimes(t, b); len(got) != 0 {
		t.Errorf("a swept record leaves %v in the index", got)
	}
}

func expiryTimes(t *testing.T, b *Backend) (times []time.Time) {
	t.Helper()
	err := b.read(func(tx *bbolt.Tx) error {
		changes, _, err := readDeferred(tx, nil)
		for entry := range indexEntries(tx, changes, expiryIndex, nil, nil) {
			at, _, _ := expiryOf(entry)
			times = append(times, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}
