package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// TestDamagedCommit damages one page of a large open file. Then TestDamagedCommit commits changes,
// which make bbolt merge pages. A commit that reads the damaged page must return an error. Neither
// the commit nor its rollback may end the process. The file has no stored free list, so a rollback
// could read the damaged page too.
func TestDamagedCommit(t *testing.T) {
	b := openTest(t)
	fillPages(t, b)
	var small []storage.Key
	for i := range 100 {
		k := testKey(fmt.Sprintf("small%03d", i))
		putContent(t, b, k, 1, 100)
		small = append(small, k)
	}
	image, err := os.ReadFile(crashCopy(t, b))
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for at := 4 * os.Getpagesize(); at < len(image) && broken < 3; at += os.Getpagesize() {
		page := image[at:]
		flags := binary.NativeEndian.Uint16(page[8:])
		overflow := binary.NativeEndian.Uint32(page[12:])
		if binary.NativeEndian.Uint64(page) != uint64(at/os.Getpagesize()) || overflow > 0 || flags != leafPage && flags != branchPage {
			continue // the page is in no tree, or contains a part of a large content
		}
		if damagePage(t, image, int64(at), small) {
			broken++
		}
	}
	if broken == 0 {
		t.Error("no commit failed because of a damaged page")
	}
}

// damagePage opens a copy of the file, damages the page at an offset, and removes records.
// damagePage reports whether a commit failed.
func damagePage(t *testing.T, image []byte, at int64, keys []storage.Key) bool {
	t.Helper()
	path := t.TempDir() + "/db"
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(path, &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.fd.WriteAt([]byte{0, 0}, at+8); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		err := b.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: now[0], Delete: true}}, nil
		})
		if b.broken.Load() {
			if !errors.Is(err, storage.ErrUnknownOutcome) && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("Update = %v; want an error that names the damage", err)
			}
			return true
		}
	}
	return false
}
