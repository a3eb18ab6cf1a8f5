package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// fillPages writes 12 records of 1 MiB. With the 12 records, the file is so large that commits do
// not store the free list.
func fillPages(t *testing.T, b *Backend) {
	t.Helper()
	for i := range 12 {
		putContent(t, b, testKey(fmt.Sprint("s", i)), 1, 1<<20)
	}
}

// freePages calls fillPages and removes the written records. freePages then adds another record and
// returns the key of that record.
func freePages(t *testing.T, b *Backend) (left storage.Key) {
	t.Helper()
	fillPages(t, b)
	if removed, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(removed) < 12 || err != nil {
		t.Fatalf("DeleteWhere = %d, %v; want 12", len(removed), err)
	}
	left = testKey("left")
	putContent(t, b, left, 1, 100)
	return left
}

// crashCopy copies the file of an open backend and returns the path of the copy. The copy has the
// same content as the file of a killed process.
func crashCopy(t *testing.T, b *Backend) (path string) {
	t.Helper()
	data, err := os.ReadFile(b.fd.Name())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "crashCopy")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestCrashWithoutFreelist opens a file whose free list was not stored. The records must be intact,
// and the free pages must be reused.
func TestCrashWithoutFreelist(t *testing.T) {
	before := openTest(t)
	left := freePages(t, before)
	if hasFreelist(before.file) {
		t.Error("the commits in a large file store the free list; want it omitted")
	}
	path := crashCopy(t, before)
	if report, err := Check(path); err != nil || !report.OK() {
		t.Errorf("Check = %+v, %v; want no problems", report, err)
	}
	size := sizeOf(t, path)
	b, err := Open(path, &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := revision(t, b, left); got != 1 {
		t.Errorf("the record has revision %d; want 1", got)
	}
	fillPages(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if grown := sizeOf(t, path) - size; grown > 0 {
		t.Errorf("the file grew by %d bytes although it had free pages", grown)
	}
	if report, err := Check(path); err != nil || !report.OK() {
		t.Errorf("Check after that = %+v, %v; want no problems", report, err)
	}
}

// TestCloseStoresFreelist checks that a large file contains its free list after Close, and that a
// small file contains its free list after each commit.
func TestCloseStoresFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	b, err := Open(path, &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	putContent(t, b, testKey("small"), 1, 100)
	if !hasFreelist(b.file) {
		t.Error("a commit in a small file omitted the list")
	}
	freePages(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second iteration makes no commit
		before := lastTransaction(t, path)
		if b, err = Open(path, &Options{UnsafeNoSync: true}); err != nil {
			t.Fatal(err)
		}
		if !hasFreelist(b.file) {
			t.Error("Close omitted the list")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got := lastTransaction(t, path); got != before {
			t.Errorf("Open and Close took %d commits; want none", got-before)
		}
	}
}

// lastTransaction returns the id of the newest transaction in a closed file.
func lastTransaction(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, _, err := readHeader(f, sizeOf(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return h.transaction
}

// TestSpaceReadsFreelist calls Space on a full disk and on a disk with free space. Commits must
// store the list only on the full disk.
func TestSpaceReadsFreelist(t *testing.T) {
	b := openTest(t)
	b.space.minFree = 10 << 20
	d := &fakeDisk{free: 1 << 20, total: 1 << 40}
	d.install(b)
	freePages(t, b)
	if err := b.Space(); err != nil {
		t.Errorf("Space() with 12 MiB of free pages = %v; want nil", err)
	}
	putContent(t, b, testKey("more"), 1, 100)
	if !hasFreelist(b.file) {
		t.Error("a commit omitted the list although the disk is nearly full")
	}
	d.free, d.now = 1<<30, d.now.Add(spaceAge)
	if err := b.Space(); err != nil {
		t.Errorf("Space() of a disk with free space = %v; want nil", err)
	}
	putContent(t, b, testKey("more"), 2, 100)
	if hasFreelist(b.file) {
		t.Error("a commit stored the list although the disk has free space")
	}
}
