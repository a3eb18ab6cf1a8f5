package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// fillPages writes 12 records of 1 MiB, in a file that is then too large to have its list stored by each commit.
func fillPages(t *testing.T, b *Backend) {
	t.Helper()
	for i := range 12 {
		putContent(t, b, testKey(fmt.Sprint("s", i)), 1, 1<<20)
	}
}

// freePages writes as much, removes it, and adds a record.
func freePages(t *testing.T, b *Backend) (left storage.Key) {
	t.Helper()
	fillPages(t, b)
	if gone, err := b.DeleteWhere(t.Context(), tagged("e"), 100); len(gone) < 12 || err != nil {
		t.Fatalf("DeleteWhere = %d, %v; want 12", len(gone), err)
	}
	left = testKey("left")
	putContent(t, b, left, 1, 100)
	return left
}

// crashed copies the file of an open backend, as a process that was killed leaves it.
func crashed(t *testing.T, b *Backend) (path string) {
	t.Helper()
	data, err := os.ReadFile(b.fd.Name())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "crashed")
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

// TestCrashWithoutFreelist opens a file whose list of free pages was not stored: what it holds is there, and its free
// pages are used again.
func TestCrashWithoutFreelist(t *testing.T) {
	before := openTest(t)
	left := freePages(t, before)
	if hasFreelist(before.file) {
		t.Error("the commits in a large file store the list of free pages; want it left out")
	}
	path := crashed(t, before)
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
		t.Errorf("the file grew by %d bytes for what was free in it", grown)
	}
	if report, err := Check(path); err != nil || !report.OK() {
		t.Errorf("Check after that = %+v, %v; want no problems", report, err)
	}
}

// TestCloseStoresFreelist closes a large file with its list, and a small one has it after each commit.
func TestCloseStoresFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	b, err := Open(path, &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	putContent(t, b, testKey("small"), 1, 100)
	if !hasFreelist(b.file) {
		t.Error("a commit in a small file left the list out")
	}
	freePages(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // without a commit in the second round
		begun := lastOf(t, path)
		if b, err = Open(path, &Options{UnsafeNoSync: true}); err != nil {
			t.Fatal(err)
		}
		if !hasFreelist(b.file) {
			t.Error("Close left the list out")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got := lastOf(t, path); got != begun {
			t.Errorf("Open and Close took %d commits; want none", got-begun)
		}
	}
}

// lastOf returns the id of the newest transaction in a file that is closed.
func lastOf(t *testing.T, path string) uint64 {
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

// TestSpaceReadsFreelist measures space on a disk without room and with it: only in the former commits store the list.
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
		t.Error("while the disk has little room a commit left the list out")
	}
	d.free, d.now = 1<<30, d.now.Add(spaceAge)
	if err := b.Space(); err != nil {
		t.Errorf("Space() with room = %v; want nil", err)
	}
	putContent(t, b, testKey("more"), 2, 100)
	if hasFreelist(b.file) {
		t.Error("while the disk has room a commit stored the list")
	}
}
