package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// fill writes n records that expire step after step, in one update, and returns them.
func fill(t *testing.T, b *Backend, n int, first time.Time, step time.Duration) []storage.Record {
	t.Helper()
	keys, records := make([]storage.Key, n), make([]storage.Record, n)
	writes := make([]storage.Write, n)
	for i := range n {
		keys[i] = testKey(fmt.Sprintf("s%06d", i))
		records[i] = storage.Record{Key: keys[i], Revision: 1, Expires: first.Add(time.Duration(i) * step)}
		writes[i].Record = records[i]
	}
	err := b.Update(context.Background(), keys, func([]storage.Record) ([]storage.Write, error) { return writes, nil })
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// makeOld turns the database into one of format 1, whose index has the exact times.
func makeOld(tx *bbolt.Tx, records []storage.Record) error {
	err := errors.Join(tx.DeleteBucket(expiryBucket), tx.Bucket(metaBucket).Put(formatKey, []byte("1")))
	if err != nil {
		return err
	}
	index, err := tx.CreateBucket([]byte("expiry"))
	if err != nil {
		return err
	}
	for _, r := range records {
		entry := binary.BigEndian.AppendUint64(nil, uint64(r.Expires.UnixMicro())^1<<63)
		if err := index.Put(append(entry, r.Key...), nil); err != nil {
			return err
		}
	}
	return nil
}

// interrupted is what an upgrade leaves that did not come to its end, and an entry that fits no longer.
func interrupted(tx *bbolt.Tx) error {
	index, err := tx.CreateBucket(expiryBucket)
	if err != nil {
		return err
	}
	return index.Put(expiryEntry(epoch(), testKey("since deleted")), nil)
}

func TestUpgrade(t *testing.T) {
	const n = 2*upgradeStep + 10
	for _, test := range []struct {
		name  string
		after func(tx *bbolt.Tx) error
	}{
		{"as it was", func(*bbolt.Tx) error { return nil }},
		{"begun before", interrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			b := openAt(t, path)
			records := fill(t, b, n, epoch(), time.Second)
			err := b.db.Update(func(tx *bbolt.Tx) error { return errors.Join(makeOld(tx, records), test.after(tx)) })
			if err := errors.Join(err, b.Close()); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, 1)

			b = openAt(t, path)
			if got := expiryTimes(t, b); len(got) != n {
				t.Errorf("the index holds %d entries; want %d", len(got), n)
			}
			if swept, err := b.Sweep(t.Context(), epoch().Add(99*time.Second), n); swept != 100 || err != nil {
				t.Errorf("Sweep = %d, %v; want 100", swept, err)
			}
			if got := expiryTimes(t, b); len(got) != n-100 {
				t.Errorf("after a sweep the index holds %d entries; want %d", len(got), n-100)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, 2)
		})
	}
}

// TestUpgradeDamaged has a record that cannot be read: the others are there all the same.
func TestUpgradeDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	b := openAt(t, path)
	records := fill(t, b, 3, epoch(), time.Second)
	err := b.db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(makeOld(tx, records), tx.Bucket(recordsBucket).Put([]byte(records[1].Key), []byte("x")))
	})
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	b = openAt(t, path)
	if n, err := b.Sweep(t.Context(), epoch().Add(time.Hour), 10); n != 2 || err != nil {
		t.Errorf("Sweep = %d, %v; want 2", n, err)
	}
	if _, err := b.Get(t.Context(), records[1].Key); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get of the damaged record = %v; want ErrCorrupt", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func openAt(t *testing.T, path string) *Backend {
	t.Helper()
	b, err := Open(path, &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkFile(t *testing.T, path string, wantFormat int) {
	t.Helper()
	report, err := Check(path)
	if err != nil || !report.OK() || report.Format != wantFormat {
		t.Errorf("Check = %+v, %v; want a sound file of format %d", report, err, wantFormat)
	}
}
