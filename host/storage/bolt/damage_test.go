package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

var at = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// writeSample creates a database that contains records of many sizes and some free pages.
// writeSample returns the records and the bytes of the file.
func writeSample(t *testing.T) (image []byte, records []storage.Record) {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "db")
	b, err := bolt.Open(path, &bolt.Options{UnsafeNoSync: true})
	must(t, err)
	for i := range 150 {
		size := i * i % 3000
		if i%40 == 5 { // the content is large enough to be stored in pieces
			size = 20_000
		}
		r := storage.Record{
			Key: benchKey(i), Revision: 1, Generation: "i", Created: at, Updated: at,
			Content: []byte(strings.Repeat("x", size)), Tags: []string{"session/s" + fmt.Sprint(i%7)},
		}
		if i%3 == 0 {
			r.Expires = at.Add(time.Duration(i) * time.Hour)
		}
		put(t, b, r)
	}
	_, err = b.DeleteWhere(ctx, benchTagged("session/s3"), 1000)
	must(t, err)
	records, err = b.Scan(ctx, "", "", 1000)
	must(t, err)
	must(t, b.Close())
	image, err = os.ReadFile(path)
	must(t, err)
	return image, records
}

// exercise performs every operation on the file at path. Even if the file is damaged, no operation
// may crash, and each read must return a correct record or an error. exercise reports whether all
// records were found.
func exercise(t *testing.T, path string, records []storage.Record) (complete bool) {
	t.Helper()
	ctx := context.Background()
	b, err := bolt.Open(path, &bolt.Options{UnsafeNoSync: true})
	if err != nil {
		return false
	}
	complete = true
	for _, want := range records {
		got, err := b.Get(ctx, want.Key)
		if err != nil || !got[0].Exists() {
			complete = false
			continue
		}
		if string(got[0].Content) != string(want.Content) || !got[0].Expires.Equal(want.Expires) {
			t.Errorf("Get of %s returned a record that was never written", want.Key)
		}
	}
	if found, err := b.Scan(ctx, "", "", 1000); err != nil || len(found) != len(records) {
		complete = false
	}
	// The following operations must terminate, but their results are ignored.
	for i := range 5 {
		k := benchKey(i * 31)
		b.Update(ctx, storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1, Content: make([]byte, 5000)}}}, nil
		})
	}
	b.DeleteWhere(ctx, storage.Selector{Expired: at.Add(1000 * time.Hour)}, 20)
	b.DeleteWhere(ctx, benchTagged("session/s1"), 1000)
	b.DeleteWhere(ctx, storage.Selector{Prefix: benchKey(0)[:5]}, 1000)
	b.Scan(ctx, "", "", 1000)
	b.Close()
	return complete
}

// damaged modifies a copy of a database and then calls the functions Check and exercise with the
// copy.
func damaged(t *testing.T, image []byte, records []storage.Record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	must(t, os.WriteFile(path, image, 0o600))
	report, err := bolt.Check(path)
	complete := exercise(t, path, records)
	if err == nil && report.OK() && !complete {
		t.Error("records are lost, but Check reports no problem")
	}
}

func TestFlippedBits(t *testing.T) {
	image, records := writeSample(t)
	random := rand.New(rand.NewPCG(1, 2))
	n := 240
	if testing.Short() {
		n = 60
	}
	for i := range n {
		changed := append([]byte(nil), image...)
		for range 1 + i%3 {
			changed[random.IntN(len(changed))] ^= 1 << random.IntN(8)
		}
		damaged(t, changed, records)
	}
	// The following loops change the bytes that bbolt checks least: the header and the first
	// elements of each page.
	for page := 0; page < len(image); page += os.Getpagesize() {
		for range max(1, n/120) {
			changed := append([]byte(nil), image...)
			changed[page+random.IntN(80)] ^= 1 << random.IntN(8)
			damaged(t, changed, records)
		}
	}
}

func TestOverwrittenPages(t *testing.T) {
	image, records := writeSample(t)
	size := os.Getpagesize()
	random := rand.New(rand.NewPCG(3, 4))
	for page := 0; page < len(image); page += size {
		for _, fill := range []func([]byte){
			func(b []byte) { clear(b) },
			func(b []byte) {
				for i := range b {
					b[i] = byte(random.Uint32())
				}
			},
			func(b []byte) { copy(b, image[random.IntN(len(image)/size)*size:][:size]) },
		} {
			changed := append([]byte(nil), image...)
			fill(changed[page : page+size])
			damaged(t, changed, records)
		}
	}
}

func TestTruncated(t *testing.T) {
	image, records := writeSample(t)
	size := os.Getpagesize()
	for _, n := range []int{1, 15, 16, 20, 79, 80, 1000, size, size + 40, 2 * size, 3 * size, len(image) / 2, len(image) - size, len(image) - 1} {
		path := filepath.Join(t.TempDir(), "db")
		must(t, os.WriteFile(path, image[:n], 0o600))
		if exercise(t, path, records) {
			continue // the truncated part contains only unused pages
		}
		_, err := bolt.Open(path, nil)
		if err == nil {
			t.Errorf("a file truncated to %d of %d bytes was opened although it is incomplete", n, len(image))
		}
		if n >= 2*size && !strings.Contains(err.Error(), "the file is truncated") {
			t.Errorf("a file truncated to %d of %d bytes: %v; want an error about the truncation", n, len(image), err)
		}
	}
}

func put(t testing.TB, b storage.Backend, r storage.Record) {
	t.Helper()
	must(t, b.Update(context.Background(), storage.Keys(r.Key), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: r}}, nil
	}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTruncatedInUse truncates the file of an open backend. Reads beyond the end of the file cause
// memory faults, which must not kill the process.
func TestTruncatedInUse(t *testing.T) {
	for _, keep := range []int64{0, int64(os.Getpagesize()), 4 * int64(os.Getpagesize())} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			ctx := context.Background()
			path := filepath.Join(t.TempDir(), "db")
			b, err := bolt.Open(path, nil)
			must(t, err)
			for i := range 50 {
				put(t, b, storage.Record{Key: benchKey(i), Revision: 1, Content: make([]byte, 2000)})
			}
			must(t, os.Truncate(path, keep))
			failed := 0
			for i := range 50 {
				if _, err := b.Get(ctx, benchKey(i)); err != nil {
					failed++
				}
				put := b.Update(ctx, storage.Keys(benchKey(i)), func([]storage.Record) ([]storage.Write, error) {
					return []storage.Write{{Record: storage.Record{Key: benchKey(i), Revision: 2}}}, nil
				})
				if put != nil {
					failed++
				}
			}
			if failed == 0 {
				t.Error("every operation on a truncated file succeeded; want errors")
			}
			b.Scan(ctx, "", "", 100)
			b.Close()
			if _, err := bolt.Open(path, &bolt.Options{LockTimeout: time.Millisecond}); err == nil || errors.Is(err, abi.Unavailable) {
				t.Errorf("Open afterwards = %v; want an error about the file, and no lock on it", err)
			}
		})
	}
}

// TestCorruptRecord corrupts one record. All intact records must stay readable and writable.
func TestCorruptRecord(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "db")
	b, err := bolt.Open(path, nil)
	must(t, err)
	for i := range 5 {
		put(t, b, storage.Record{Key: benchKey(i), Revision: 1, Expires: at, Tags: []string{"e"}, Content: []byte(fmt.Sprintf("content%d", i))})
	}
	must(t, b.Close())
	image, err := os.ReadFile(path)
	must(t, err)
	changed := strings.ReplaceAll(string(image), "content2", "content3")
	must(t, os.WriteFile(path, []byte(changed), 0o600))

	b, err = bolt.Open(path, nil)
	must(t, err)
	defer b.Close()
	bad := benchKey(2)
	names := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), bad.String()) || strings.Contains(err.Error(), "content") {
			t.Errorf("%s = %v; want ErrCorrupt with the key, without the content", what, err)
		}
	}
	_, err = b.Get(ctx, benchKey(1), bad)
	names("Get", err)
	_, err = b.Scan(ctx, "", "", 100)
	names("Scan", err)
	_, err = b.Heads(ctx, "", "", 100)
	names("Heads", err)
	names("Update", b.Update(ctx, storage.Keys(bad), func([]storage.Record) ([]storage.Write, error) { return nil, nil }))
	if found, err := b.Get(ctx, benchKey(1), benchKey(3)); err != nil || string(found[1].Content) != "content3" {
		t.Errorf("Get of the other records = %v, %v", found, err)
	}
	put(t, b, storage.Record{Key: benchKey(3), Revision: 2})

	n, err := b.DeleteWhere(ctx, benchTagged("e"), 100)
	names("DeleteWhere of a tag", err)
	m, err := b.DeleteWhere(ctx, storage.Selector{Expired: at}, 100)
	names("DeleteWhere of expired records", err)
	if len(n) != 3 || len(m) != 0 {
		t.Errorf("removed %d and %d of the other records; want 3 and 0", len(n), len(m))
	}
}
