package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// putContent writes a record with n random bytes as its content.
func putContent(t *testing.T, b *Backend, k storage.Key, revision int64, n int) []byte {
	t.Helper()
	content := randomContent(n)
	err := b.Update(t.Context(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: k, Revision: revision, Content: content, Tags: []string{"e"}}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func randomContent(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	return content
}

// piecesIn returns the number of content pieces in the file.
func piecesIn(t *testing.T, b *Backend) (n int) {
	t.Helper()
	err := b.read(func(tx *bbolt.Tx) error {
		n = 0
		return tx.Bucket(contentsBucket).ForEach(func(_, _ []byte) error {
			n++
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestContentsApart writes contents whose sizes are close to multiples of pieceBytes. Each write
// replaces the previous content, and the last content is removed. All reads must return the written
// content. After the removal, no piece may remain.
func TestContentsApart(t *testing.T) {
	b := openTest(t)
	k, other := testKey("s"), testKey("t")
	kept := putContent(t, b, other, 1, 3*pieceBytes)
	sizes := []int{0, 10, pieceBytes - 1, pieceBytes, pieceBytes + 1, 2*pieceBytes - 1, 2 * pieceBytes, 100, 5*pieceBytes + 7, storage.MaxContentBytes}
	for i, size := range sizes {
		content := putContent(t, b, k, int64(i+1), size)
		found, err := b.Get(t.Context(), k, other)
		if err != nil || !bytes.Equal(found[0].Content, content) || !bytes.Equal(found[1].Content, kept) {
			t.Fatalf("Get after a write of %d bytes = %d and %d bytes, %v", size, len(found[0].Content), len(found[1].Content), err)
		}
		heads, err := b.Heads(t.Context(), "", "", 10)
		if err != nil || len(heads) != 2 || heads[0].ContentBytes != int64(size) || heads[0].Content != nil {
			t.Errorf("Heads after a write of %d bytes = %+v, %v", size, heads, err)
		}
		want := 3
		if size > pieceBytes {
			want += (size + pieceBytes - 1) / pieceBytes
		}
		if got := piecesIn(t, b); got != want {
			t.Errorf("for a content of %d bytes the file has %d pieces; want %d", size, got, want)
		}
	}
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 10); len(removed) != 2 || err != nil {
		t.Errorf("DeleteWhere = %d, %v; want 2", len(removed), err)
	}
	if got := piecesIn(t, b); got != 0 {
		t.Errorf("removed records left %d pieces; want none", got)
	}
}

// TestOnlyContentReplaced uses a database in which only one content is stored in pieces.
// TestOnlyContentReplaced repeatedly replaces and removes the content. If a bucket has several
// pages and all entries of the bucket were deleted, bbolt's cursors do not terminate.
func TestOnlyContentReplaced(t *testing.T) {
	b := openTest(t)
	k := testKey("s")
	done := make(chan error, 1)
	go func() {
		for revision := range int64(4) {
			err := b.Update(t.Context(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
				r := storage.Record{Key: k, Revision: revision + 1, Content: make([]byte, 1<<20), Tags: []string{"e"}}
				return []storage.Write{{Record: r}}, nil
			})
			if err != nil {
				done <- err
				return
			}
		}
		_, err := b.DeleteWhere(t.Context(), tagged("e"), 10)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		panic("a commit does not terminate") // Close would also wait forever
	}
	if got := piecesIn(t, b); got != 0 {
		t.Errorf("%d pieces are left; want none", got)
	}
}

// TestSmallRecordAmongLarge updates a small record whose neighbors in the file are large, and
// counts the written pages.
func TestSmallRecordAmongLarge(t *testing.T) {
	b := openTest(t)
	for i := range 8 {
		putContent(t, b, testKey(fmt.Sprintf("large%d", i)), 1, 1<<20)
	}
	small := testKey("large3small")
	putContent(t, b, small, 1, 10)
	var pages int64
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		return update(func(tx *bbolt.Tx) error {
			tx.OnCommit(func() { stats := tx.Stats(); pages = stats.GetPageCount() })
			return fn(tx)
		})
	}
	putContent(t, b, small, 2, 10)
	if maximum := int64(30); pages == 0 || pages > maximum {
		t.Errorf("the update of a small record among records of 1 MiB wrote %d pages; want at most %d", pages, maximum)
	}
}

// TestDamagedContents damages contents that are stored in pieces. Get and Check must report the
// damage.
func TestDamagedContents(t *testing.T) {
	k, other := testKey("s"), testKey("t")
	for _, test := range []struct {
		name, kind, text string
		unreadable       bool
		change           func(contents, records *bbolt.Bucket) error
	}{
		{"nothing", "", "", false, func(_, _ *bbolt.Bucket) error { return nil }},
		{"a flipped bit", "content", "checksum", true, func(contents, _ *bbolt.Bucket) error {
			piece := bytes.Clone(contents.Get(pieceKey(2)))
			piece[77] ^= 1
			return contents.Put(pieceKey(2), piece)
		}},
		{"a lost piece", "content", "is missing", true, func(contents, _ *bbolt.Bucket) error { return contents.Delete(pieceKey(1)) }},
		{"the last piece is lost", "content", "is missing", true, func(contents, _ *bbolt.Bucket) error { return contents.Delete(pieceKey(3)) }},
		{"a truncated piece", "content", "is missing", true, func(contents, _ *bbolt.Bucket) error { return contents.Put(pieceKey(3), []byte("x")) }},
		{"a stray piece", "content", "do not belong to a record", false, func(contents, _ *bbolt.Bucket) error { return contents.Put(pieceKey(99), []byte("x")) }},
		{"a malformed number", "content", "do not belong to a record", false, func(contents, _ *bbolt.Bucket) error { return contents.Put([]byte("x"), []byte("x")) }},
		{"a malformed reference", "record", "malformed", true, func(_, records *bbolt.Bucket) error {
			return records.Put([]byte(k), storage.AppendRecord([]byte{apart}, storage.Record{Key: k, Revision: 1, Content: []byte("x")}))
		}},
		{"a reference with a huge size", "record", "malformed", true, func(_, records *bbolt.Bucket) error {
			ref := reference{first: 1, bytes: 1 << 60}
			return records.Put([]byte(k), storage.AppendRecord([]byte{apart}, storage.Record{Key: k, Revision: 1, Content: ref.append(nil)}))
		}},
		{"the reference of another record", "content", "share", false, func(_, records *bbolt.Bucket) error {
			var r storage.Record
			ref, err := decodeApart(&r, k, records.Get([]byte(k)))
			if err != nil {
				return err
			}
			r = storage.Record{Key: other, Revision: 1, Content: ref.append(nil)}
			return records.Put([]byte(other), storage.AppendRecord([]byte{apart}, r))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			b, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			putContent(t, b, k, 1, 2*pieceBytes+5) // pieces 1 to 3
			putContent(t, b, other, 1, 2*pieceBytes+5)
			err = b.db.Update(func(tx *bbolt.Tx) error { return test.change(tx.Bucket(contentsBucket), tx.Bucket(recordsBucket)) })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Get(t.Context(), k); errors.Is(err, storage.ErrCorrupt) != test.unreadable || (err != nil) != test.unreadable {
				t.Errorf("Get = %v; want ErrCorrupt: %v", err, test.unreadable)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			report, err := Check(path)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, report, test.kind, test.text)
		})
	}
}

// TestRemovalOfDamagedContent removes a record whose content is unreadable. The remaining pieces of
// the content must be removed too.
func TestRemovalOfDamagedContent(t *testing.T) {
	b := openTest(t)
	putContent(t, b, testKey("s"), 1, 3*pieceBytes)
	if err := b.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(contentsBucket).Delete(pieceKey(2)) }); err != nil {
		t.Fatal(err)
	}
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 10); len(removed) != 1 || err != nil {
		t.Errorf("DeleteWhere = %d, %v; want 1", len(removed), err)
	}
	if got := piecesIn(t, b); got != 0 {
		t.Errorf("%d pieces are left; want none", got)
	}
}
