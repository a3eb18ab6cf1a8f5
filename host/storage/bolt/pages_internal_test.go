package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// testImage returns a database with a few pages of each kind. The page size of the database is 4096
// on every machine.
func testImage(t testing.TB, records int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 4096, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	fill := func(tx *bbolt.Tx) error {
		if err := initialise(tx, epoch()); err != nil {
			return err
		}
		for i := range records {
			r := storage.Record{Key: testKey(fmt.Sprintf("s%03d", i)), Revision: 1, Content: make([]byte, 500), Expires: epoch()}
			err := errors.Join(tx.Bucket(recordsBucket).Put([]byte(r.Key), storage.AppendRecord(nil, r)),
				tx.Bucket(expiryBucket).Put(expiryEntry(r.Expires, r.Key), nil))
			if err != nil {
				return err
			}
		}
		return nil
	}
	err = errors.Join(db.Update(fill), db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(usageBucket).Put([]byte("x"), nil) // frees some pages
	}), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// checkImage checks an image with the same checks that Open makes before bbolt opens a file.
func checkImage(image []byte) error {
	r := bytes.NewReader(image)
	h, _, err := readHeader(r, int64(len(image)))
	if err == nil {
		_, err = checkPages(r, h)
	}
	return err
}

// page is a page of an image. The methods of page modify the page.
type page struct {
	image []byte
	id    uint64
}

func (p page) bytes() []byte             { return p.image[p.id*4096:][:4096] }
func (p page) element(i int) []byte      { return p.bytes()[pageHeader+i*elementSize:] }
func (p page) key(i int) []byte          { return p.element(i)[order.Uint32(p.element(i)[4:]):] }
func (p page) child(i int) uint64        { return order.Uint64(p.element(i)[8:]) }
func (p page) setChild(i int, to uint64) { order.PutUint64(p.element(i)[8:], to) }

func TestCheckPages(t *testing.T) {
	image := testImage(t, 50)
	if err := checkImage(image); err != nil {
		t.Fatalf("a sound file: %v", err)
	}
	h, _, err := readHeader(bytes.NewReader(image), int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	branch := findPage(t, image, h, branchPage)
	leaf := page{image, branch}.child(0)
	for _, test := range []struct {
		name, want string
		change     func(image []byte)
	}{
		{"a page that is its own child", "used twice", func(image []byte) { page{image, branch}.setChild(0, branch) }},
		{"two parents", "used twice", func(image []byte) {
			p := page{image, branch}
			p.setChild(0, p.child(1))
		}},
		{"a child beyond the file", "does not exist", func(image []byte) { page{image, branch}.setChild(0, h.next) }},
		{"a header page as a child", "does not exist", func(image []byte) { page{image, branch}.setChild(0, 1) }},
		{"a page with another id", "the id of another page", func(image []byte) { image[leaf*4096] ^= 1 }},
		{"a page that is too long", "ends beyond the file", func(image []byte) { image[leaf*4096+15] = 0xff }},
		{"a page that runs into the next", "used twice", func(image []byte) { image[leaf*4096+12]++ }},
		{"an unknown page type", "the page has the wrong type", func(image []byte) { image[leaf*4096+8] = 0x20 }},
		{"a free list as a child", "the page has the wrong type", func(image []byte) { image[leaf*4096+8] = freelistPage }},
		{"too many elements", "too many elements", func(image []byte) { image[leaf*4096+11] = 0xff }},
		{"a branch without children", "the page has the wrong type", func(image []byte) { clear(image[branch*4096+10:][:2]) }},
		{"a key beyond the page", "malformed", func(image []byte) { page{image, leaf}.element(0)[5] = 0xff }},
		{"a key inside the elements", "malformed", func(image []byte) { clear(page{image, leaf}.element(0)[4:8]) }},
		{"an empty key", "malformed", func(image []byte) { clear(page{image, leaf}.element(0)[8:12]) }},
		{"a value beyond the page", "malformed", func(image []byte) { page{image, leaf}.element(0)[14] = 0xff }},
		{"an unknown element type", "malformed", func(image []byte) { page{image, leaf}.element(0)[0] = 2 }},
		{"a record as a bucket", "", func(image []byte) { page{image, leaf}.element(0)[0] = bucketFlag }},
		{"keys out of order", "out of order", func(image []byte) {
			p := page{image, leaf}
			copy(p.element(0)[4:16], p.element(1)[4:16])
			order.PutUint32(p.element(0)[4:], order.Uint32(p.element(0)[4:])+elementSize)
		}},
		{"two children in the wrong order", "out of the range", func(image []byte) {
			p := page{image, branch}
			first := p.child(0)
			p.setChild(0, p.child(1))
			p.setChild(1, first)
		}},
		{"a key less than its range", "out of the range", func(image []byte) { page{image, leaf}.key(0)[0]-- }},
		{"a key greater than its range", "out of the range", func(image []byte) {
			p := page{image, leaf}
			p.key(int(order.Uint16(p.bytes()[10:])) - 1)[0]++
		}},
		{"a free page in use", "in use", func(image []byte) { order.PutUint64(page{image, h.freelist}.element(0), leaf) }},
		{"a duplicate free page", "in use", func(image []byte) {
			copy(page{image, h.freelist}.bytes()[pageHeader:][:8], page{image, h.freelist}.bytes()[pageHeader+8:])
		}},
		{"a free page beyond the file", "does not exist", func(image []byte) {
			order.PutUint64(page{image, h.freelist}.element(0), h.next)
		}},
		{"a free list that is too long", "malformed", func(image []byte) { image[h.freelist*4096+11] = 0x7f }},
		{"a huge free list", "malformed", func(image []byte) {
			p := page{image, h.freelist}
			p.bytes()[10], p.bytes()[11] = 0xff, 0xff
			order.PutUint64(p.element(0), 1<<60)
		}},
		{"a free list of another page type", "malformed", func(image []byte) { image[h.freelist*4096+8] = leafPage }},
		{"two damaged headers", "header pages", func(image []byte) { image[16+60] ^= 1; image[4096+16+60] ^= 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := bytes.Clone(image)
			test.change(changed)
			err := checkImage(changed)
			if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want %q", err, test.want)
			}
		})
	}
}

// findPage returns a used page that has the given flags.
func findPage(t *testing.T, image []byte, h header, flags uint16) uint64 {
	t.Helper()
	w := &walker{header: h, r: bytes.NewReader(image), used: make([]bool, h.next), todo: []subtree{{page: h.root}}}
	for len(w.todo) > 0 {
		next := w.todo[0]
		w.todo = w.todo[1:]
		got, n, data, err := w.read(next.page)
		if err != nil {
			t.Fatal(err)
		}
		if got == flags {
			return next.page
		}
		if err := w.visit(next, got, n, data); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no page with flags %#x", flags)
	return 0
}

// TestHeaders damages one of the two header pages. Open must use the intact header. If the newer
// header is damaged, the last commit is lost. Check must report the damage.
func TestHeaders(t *testing.T) {
	image := testImage(t, 5)
	for id := range 2 {
		changed := bytes.Clone(image)
		changed[id*4096+16+60] ^= 1
		path := filepath.Join(t.TempDir(), "db")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Check(path)
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, report, "pages", "header pages is damaged")
		b, err := Open(path, nil)
		if err != nil {
			t.Errorf("Open with header page %d damaged = %v", id, err)
			continue
		}
		b.Close()
	}
}

// FuzzCheckPages changes a file at one offset and recomputes the header checksums. With wrong
// checksums, the file would be rejected before checkPages runs. If checkPages accepts a file, bbolt
// must be able to read all pages of the file safely.
func FuzzCheckPages(f *testing.F) {
	image := testImage(f, 30)
	f.Add(uint32(0), []byte{0})
	f.Add(uint32(4096+16+16), []byte{1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint32(2*4096), []byte{0xff, 0xff})
	f.Add(uint32(3*4096+8), []byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(uint32(5*4096+16), bytes.Repeat([]byte{3}, 100))
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		changed := bytes.Clone(image)
		copy(changed[int(at)%len(changed):], with)
		for id := range 2 {
			meta := changed[id*4096+pageHeader:][:metaSize]
			sum := fnv.New64a()
			sum.Write(meta[:56])
			order.PutUint64(meta[56:], sum.Sum64())
		}
		if err := checkImage(changed); err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "db")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path, &Options{UnsafeNoSync: true})
		if err != nil {
			return
		}
		defer b.Close()
		b.Scan(t.Context(), "", "", 1000)
		count(b, testKey("s000"))
		sweepUpTo(t.Context(), b, epoch(), 10)
		b.DeleteWhere(t.Context(), storage.Selector{Prefix: testKey("s")[:4]}, 100)
	})
}
