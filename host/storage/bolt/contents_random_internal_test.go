package bolt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// TestContentsAtRandom writes, replaces and removes records of all sizes. Then TestContentsAtRandom
// compares the stored records with the expected records. A commit changes several records, and
// often all records.
func TestContentsAtRandom(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "db")
			b, err := Open(path, &Options{UnsafeNoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(seed, 5))
			want := map[storage.Key][]byte{}
			revision := int64(0)
			for range 150 {
				revision++
				changeAtRandom(t, r, b, want, revision)
			}
			compareContents(t, b, want)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if report, err := Check(path); err != nil || !report.OK() {
				t.Errorf("Check = %+v, %v; want no problems", report, err)
			}
		})
	}
}

// changeAtRandom either changes several random records in one commit, or removes all records with a
// random tag.
func changeAtRandom(t *testing.T, r *rand.Rand, b *Backend, want map[storage.Key][]byte, revision int64) {
	t.Helper()
	if r.IntN(6) == 0 {
		removed, err := b.DeleteWhere(t.Context(), tagged("e"), 1+r.IntN(8))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range removed {
			delete(want, h.Key)
		}
		return
	}
	var keys []storage.Key
	for _, i := range r.Perm(6)[:1+r.IntN(6)] {
		keys = append(keys, testKey(fmt.Sprint("s", i)))
	}
	next := map[storage.Key][]byte{}
	for _, k := range keys {
		if r.IntN(3) > 0 {
			next[k] = bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(r.IntN(14)*pieceBytes+100))
		}
	}
	err := b.Update(t.Context(), storage.Keys(keys...), func([]storage.Record) (writes []storage.Write, err error) {
		for _, k := range keys {
			content, kept := next[k]
			rec := storage.Record{Key: k, Revision: revision, Content: content, Tags: []string{"e"}}
			writes = append(writes, storage.Write{Record: rec, Delete: !kept})
		}
		return writes, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if content, kept := next[k]; kept {
			want[k] = content
		} else {
			delete(want, k)
		}
	}
}

func compareContents(t *testing.T, b *Backend, want map[storage.Key][]byte) {
	t.Helper()
	found, err := b.Scan(t.Context(), "", "", 100)
	if err != nil || len(found) != len(want) {
		t.Fatalf("Scan = %d records, %v; want %d", len(found), err, len(want))
	}
	pieces := 0
	for _, r := range found {
		if !bytes.Equal(r.Content, want[r.Key]) {
			t.Errorf("the content of %s differs: it has %d bytes; want %d", r.Key, len(r.Content), len(want[r.Key]))
		}
		if n := len(r.Content); n > pieceBytes {
			pieces += (n + pieceBytes - 1) / pieceBytes
		}
	}
	if got := piecesIn(t, b); got != pieces {
		t.Errorf("%d pieces; want %d", got, pieces)
	}
}
