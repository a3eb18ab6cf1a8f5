//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// finders returns the finders that this system supports.
func finders(t *testing.T) map[string]finder {
	t.Helper()
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip("the system does not report written pages: /proc/self/pagemap")
	}
	t.Cleanup(func() { file.Close() })
	found := map[string]finder{"read": readFinder(file), "scanned": scanFinder(file)}
	for name, find := range found {
		if !works(find) {
			t.Logf("the system does not support finder %s", name)
			delete(found, name)
		}
	}
	return found
}

// TestScanRequest checks the number of the ioctl request, which the system call filter of
// host/sandbox allows.
func TestScanRequest(t *testing.T) {
	if scanRequest != 0xc0606610 {
		t.Errorf("scanRequest = %#x", uint64(scanRequest))
	}
}

func TestDirtyPages(t *testing.T) {
	for name, find := range finders(t) {
		t.Run(name, func(t *testing.T) {
			const pages = 3000 // more than one batch
			m := newTestMemory(t, testImage(2000), pages*pageSize)
			all := m.Reallocate(pages * uint64(pageSize))
			want := []int{0, 5, 1023, 1024, 1999, 2000, 2048}
			for page := 2050; page < pages; page += 2 - page%7%2 { // more regions than one batch
				want = append(want, page)
			}
			for _, page := range want {
				all[page*pageSize+7]++
			}
			got, ok := find(all)
			if !ok || !slices.Equal(got, want) {
				t.Errorf("found %v, %t; want %v", got, ok, want)
			}
		})
	}
}

// TestRewindByAllFinders checks that memories are reset with each finder and without a finder.
func TestRewindByAllFinders(t *testing.T) {
	was := pagemap
	defer func() { pagemap = was }()
	all := finders(t)
	all["dropped"] = nil
	for name, find := range all {
		pagemap = func() finder { return find }
		t.Run(name, TestRewind)
	}
}

// TestScatteredPages checks that many scattered pages are dropped instead of being copied.
func TestScatteredPages(t *testing.T) {
	was := pagemap
	defer func() { pagemap = was }()
	for name, find := range finders(t) {
		pagemap = func() finder { return find }
		t.Run(name, func(t *testing.T) {
			const pages = 3 * maxDirty
			image := testImage(pages)
			m := newTestMemory(t, image, pages*pageSize)
			all := m.Reallocate(pages * uint64(pageSize))
			for page := 0; page < pages; page += 2 {
				all[page*pageSize]++
			}
			if !m.rewind() || !bytes.Equal(all, image) {
				t.Error("the memory differs from the image")
			}
		})
	}
}

// TestWorks checks that the function "works" rejects a page map of zeros, which reports no written
// pages.
func TestWorks(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(1 << 40); err != nil {
		t.Skip("the file system has no sparse files")
	}
	if works(readFinder(file)) || works(scanFinder(file)) {
		t.Error("works = true for a map of zeros; want false")
	}
	if empty, err := os.Open(os.DevNull); err != nil || works(readFinder(empty)) {
		t.Errorf("works = true for an empty map, or opening the map failed with %v; want false", err)
	}
}

// TestSealed checks that the file of a source cannot be changed, even through its descriptor.
func TestSealed(t *testing.T) {
	image := testImage(1)
	s, err := newSource(image)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := unix.Pwrite(s.fd, []byte{1}, 0); err == nil {
		t.Error("writing to the image succeeded; want an error")
	}
	if err := unix.Ftruncate(s.fd, 0); err == nil {
		t.Error("truncating the image succeeded; want an error")
	}
	if _, err := unix.Mmap(s.fd, 0, pageSize, unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		t.Error("mapping the image for writing succeeded; want an error")
	}
	if !bytes.Equal(s.view, image) {
		t.Error("the image changed")
	}
}
