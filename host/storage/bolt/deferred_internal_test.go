package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// indexed returns the entries of an index. The deferred changes are applied to the result.
func indexed(t *testing.T, b *Backend, in index) (found []string) {
	t.Helper()
	err := b.read(func(tx *bbolt.Tx) error {
		changes, _, err := readDeferred(tx, nil)
		for entry := range indexEntries(tx, changes, in, nil, nil) {
			found = append(found, string(entry))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// deferredBytes returns the size of the deferred changes.
func deferredBytes(t *testing.T, b *Backend) (size int) {
	t.Helper()
	err := b.read(func(tx *bbolt.Tx) (err error) {
		_, size, err = readDeferred(tx, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// settle writes the deferred changes to the indexes.
func settle(t *testing.T, b *Backend) {
	t.Helper()
	err := b.submit(t.Context(), sender{}, func(t *transaction) error {
		t.settle, t.wrote = true, true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lastCommitOf returns the id of the last commit.
func lastCommitOf(t *testing.T, b *Backend) (id int) {
	t.Helper()
	if err := b.read(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

// write stores records in one commit. If the revision of a record is 0, the function removes the
// record.
func write(b *Backend, records ...storage.Record) error {
	keys := make([]storage.Key, len(records))
	for i, r := range records {
		keys[i] = r.Key
	}
	return b.Update(context.Background(), storage.Keys(keys...), func([]storage.Record) (writes []storage.Write, err error) {
		for _, r := range records {
			writes = append(writes, storage.Write{Record: r, Delete: !r.Exists()})
		}
		return writes, nil
	})
}

// indexModel is a model of a backend's indexes. The model maps keys to the records of the backend.
type indexModel struct {
	*rand.Rand
	records map[storage.Key]storage.Record
}

// entries returns the entries that an index must contain.
func (m indexModel) entries(in index) (want []string) {
	for k, r := range m.records {
		if in == expiryIndex && !r.Expires.IsZero() {
			want = append(want, string(expiryEntry(r.Expires, k)))
		}
		for _, tag := range r.Tags {
			if in == tagIndex {
				want = append(want, string(tagEntry(groupOf(k), tag, k)))
			}
		}
	}
	slices.Sort(want)
	return want
}

// The method "next" returns random changes of a few records. The tags are long, so that the
// deferred changes often exceed their maximum size.
func (m indexModel) next() (changes []storage.Record) {
	for _, i := range m.Perm(40)[:1+m.IntN(6)] {
		r := storage.Record{Key: testKey(fmt.Sprint("s", i))}
		if m.IntN(3) > 0 {
			r.Revision = m.records[r.Key].Revision + 1
			for _, tag := range m.Perm(3)[:m.IntN(4)] {
				r.Tags = append(r.Tags, strings.Repeat(fmt.Sprint(tag), 400))
			}
			if m.IntN(2) == 0 {
				r.Expires = epoch().Add(time.Duration(m.IntN(5)) * time.Hour)
			}
		}
		changes = append(changes, r)
	}
	return changes
}

func (m indexModel) apply(changes []storage.Record) {
	for _, r := range changes {
		if delete(m.records, r.Key); r.Exists() {
			m.records[r.Key] = r
		}
	}
}

// failAtRandom makes some commits fail. A failure happens either before or after bbolt has applied
// the changes.
func failAtRandom(m indexModel, b *Backend, failure error) {
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		before, after := m.IntN(10) == 0, m.IntN(10) == 0
		err := update(func(tx *bbolt.Tx) error {
			if err := fn(tx); err != nil || !before {
				return err
			}
			return failure
		})
		if err == nil && after {
			return failure
		}
		return err
	}
}

// TestDeferredAtRandom changes, removes and sweeps records and compares the indexes with the
// records. Some of the commits fail. If the process crashed, the file must contain the same indexes
// as after Close.
func TestDeferredAtRandom(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b := openTest(t)
			m := indexModel{rand.New(rand.NewPCG(seed, 11)), map[storage.Key]storage.Record{}}
			failure := errors.New("the disk failed")
			failAtRandom(m, b, failure)
			emptied, last := 0, 0
			for range 400 {
				m.step(t, b, failure)
				size := deferredBytes(t, b)
				if size < last {
					emptied++
				}
				if known := &b.deferred; known.commit != 0 && known.commit >= lastCommitOf(t, b) && known.bytes != size {
					t.Fatalf("the backend has counted %d bytes of deferred changes; the file has %d", known.bytes, size)
				}
				if last = size; size > maxDeferred {
					t.Fatalf("the deferred changes have %d bytes; want at most %d", size, maxDeferred)
				}
				for in := range indexes {
					if got, want := indexed(t, b, in), m.entries(in); !slices.Equal(got, want) {
						t.Fatalf("index %d has the entries\n%q; want\n%q", in, got, want)
					}
				}
			}
			if emptied < 5 {
				t.Errorf("the deferred changes were written to the indexes %d times; want at least 5", emptied)
			}
			m.checkCrash(t, b)
		})
	}
}

// step changes the backend and the model.
func (m indexModel) step(t *testing.T, b *Backend, failure error) {
	t.Helper()
	var err error
	switch m.IntN(40) {
	case 0:
		tag := strings.Repeat("1", 400)
		_, err = b.DeleteWhere(t.Context(), tagged(tag), 1+m.IntN(3))
	case 1:
		_, err = sweepUpTo(t.Context(), b, epoch().Add(time.Hour), 1+m.IntN(3))
	default:
		changes := m.next()
		if err = write(b, changes...); err == nil || errors.Is(err, storage.ErrUnknownOutcome) {
			m.apply(changes)
		}
	}
	if err != nil && !errors.Is(err, failure) {
		t.Fatal(err)
	}
	found, err := b.Scan(t.Context(), "", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	left := map[storage.Key]bool{}
	for _, r := range found {
		left[r.Key] = true
	}
	maps.DeleteFunc(m.records, func(k storage.Key, _ storage.Record) bool { return !left[k] }) // the record was removed
}

// checkCrash opens a copy of the file without closing the file first.
func (m indexModel) checkCrash(t *testing.T, b *Backend) {
	t.Helper()
	for deferredBytes(t, b) == 0 {
		changes := m.next()
		if err := write(b, changes...); err == nil || errors.Is(err, storage.ErrUnknownOutcome) {
			m.apply(changes)
		}
	}
	path := crashCopy(t, b)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := b.BackupFile(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, copied} {
		for range 2 { // the file as after a crash, and the file after Close
			if report, err := Check(path); err != nil || !report.OK() {
				t.Errorf("Check = %+v, %v; want no problems", report, err)
			}
			opened, err := Open(path, &Options{UnsafeNoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			for in := range indexes {
				if got, want := indexed(t, opened, in), m.entries(in); !slices.Equal(got, want) {
					t.Errorf("index %d of %s has the entries\n%q; want\n%q", in, path, got, want)
				}
			}
			if err := opened.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDeferredScan calls ScanTag with each start key. The results must not change when the deferred
// changes are written to the index.
func TestDeferredScan(t *testing.T) {
	b := openTest(t)
	record := func(i int, tags ...string) storage.Record {
		return storage.Record{Key: testKey(fmt.Sprintf("s%02d", i)), Revision: 1, Tags: tags}
	}
	for i := range 12 {
		if err := write(b, record(i, "e", "f")); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, b)
	// Stored and deferred entries alternate. Some entries are removed, and some of the removed
	// entries are added again.
	if err := write(b, record(0, "f"), record(3, "f"), record(12, "e"), record(14, "e"), storage.Record{Key: testKey("s05")}); err != nil {
		t.Fatal(err)
	}
	if err := write(b, record(3, "e")); err != nil {
		t.Fatal(err)
	}
	scan := func() (found []string) {
		for i := range 15 {
			heads, err := b.ScanTag(t.Context(), tagged("e"), record(i).Key, 4)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range heads {
				found = append(found, h.Key.Part(storage.Store))
			}
			found = append(found, "|")
		}
		return found
	}
	deferred := scan()
	if want := []string{"s01", "s02", "s03", "s04", "|", "s02", "s03", "s04", "s06", "|"}; !slices.Equal(deferred[:len(want)], want) {
		t.Errorf("ScanTag = %q; want %q first", deferred, want)
	}
	settle(t, b)
	if deferredBytes(t, b) != 0 {
		t.Fatal("there are deferred changes left")
	}
	if settled := scan(); !slices.Equal(deferred, settled) {
		t.Errorf("ScanTag = %q before the deferred changes were written, and %q after", deferred, settled)
	}
}

// TestDeferredForgetsRemoved removes records, and checks that neither the deferred changes nor
// copies contain the keys of the removed records.
func TestDeferredForgetsRemoved(t *testing.T) {
	const name = "removed-canary"
	b := openTest(t)
	r := storage.Record{Key: testKey("s").With(storage.Part{Tag: storage.Item, Value: name}), Revision: 1, Tags: []string{"e"}, Expires: epoch()}
	left := storage.Record{Key: testKey("left"), Revision: 1, Tags: []string{"f"}}
	stored := func() (found bool) {
		err := b.read(func(tx *bbolt.Tx) error {
			return tx.Bucket(deferredBucket).ForEach(func(_, data []byte) error {
				found = found || bytes.Contains(data, []byte(name))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := write(b, r, left); err != nil || !stored() {
		t.Fatalf("Update = %v; the key is deferred: %t; want true", err, stored())
	}
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 10); len(removed) != 1 || err != nil || stored() {
		t.Errorf("DeleteWhere = %d, %v; the key is deferred: %t; want false", len(removed), err, stored())
	}
	if err := write(b, r); err != nil {
		t.Fatal(err)
	}
	if err := write(b, storage.Record{Key: r.Key}); err != nil || !stored() {
		t.Fatalf("Update = %v; the key is deferred: %t; want true", err, stored())
	}
	path := filepath.Join(t.TempDir(), "copy")
	if err := b.BackupFile(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte(name)) {
		t.Errorf("a copy contains the key of a removed record, %v", err)
	}
}

// TestDamagedDeferred damages deferred changes. Check must report the damage. Only operations that
// need the deferred changes must fail.
func TestDamagedDeferred(t *testing.T) {
	r := storage.Record{Key: testKey("s"), Revision: 1, Tags: []string{"e"}}
	for _, test := range []struct {
		name, text string
		damage     func(log *bbolt.Bucket, commit, data []byte) error
	}{
		{"a flipped bit", "checksum", func(log *bbolt.Bucket, commit, data []byte) error {
			data[len(data)-1] ^= 1
			return log.Put(commit, data)
		}},
		{"another commit", "checksum", func(log *bbolt.Bucket, commit, data []byte) error {
			return log.Put(append(commit, 0), data)
		}},
		{"truncated", "checksum", func(log *bbolt.Bucket, commit, _ []byte) error { return log.Put(commit, []byte{1, 2}) }},
		{"malformed", "malformed", func(log *bbolt.Bucket, commit, data []byte) error {
			data = append(data, 255)
			copy(data, order.AppendUint32(nil, partSum(commit, data)))
			return log.Put(commit, data)
		}},
		{"a wrong removal", "is not in the tag index", func(log *bbolt.Bucket, commit, _ []byte) error {
			var wrong indexChanges
			wrong.set(tagIndex, string(tagEntry(groupOf(r.Key), "e", r.Key)), false)
			if err := log.Tx().Bucket(tagsBucket).Put(tagEntry(groupOf(r.Key), "e", r.Key), nil); err != nil {
				return err
			}
			return log.Put(commit, wrong.encode(int(binary.BigEndian.Uint64(commit)))[0])
		}},
		{"lost", "is not in the tag index", func(log *bbolt.Bucket, commit, _ []byte) error { return log.Delete(commit) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := openTest(t)
			if err := write(b, r); err != nil {
				t.Fatal(err)
			}
			err := b.db.Update(func(tx *bbolt.Tx) error {
				log := tx.Bucket(deferredBucket)
				commit, data := log.Cursor().First()
				return test.damage(log, bytes.Clone(commit), bytes.Clone(data))
			})
			if err != nil {
				t.Fatal(err)
			}
			report, err := Check(crashCopy(t, b))
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, report, "index", test.text)
			if test.text != "checksum" && test.text != "malformed" {
				return
			}
			if got := revision(t, b, r.Key); got != 1 {
				t.Errorf("the record has revision %d; want 1", got)
			}
			if _, err := b.ScanTag(t.Context(), tagged("e"), "", 10); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("ScanTag = %v; want ErrCorrupt", err)
			}
			if err := write(b, storage.Record{Key: testKey("t"), Revision: 1, Tags: []string{"e"}}); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("Update = %v; want ErrCorrupt", err)
			}
		})
	}
}
