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

// finders are the ways to find written pages that this system has.
func finders(t *testing.T) map[string]finder {
	t.Helper()
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip("the system does not tell which pages were written: /proc/self/pagemap")
	}
	t.Cleanup(func() { file.Close() })
	found := map[string]finder{"read": readFinder(file), "scanned": scanFinder(file)}
	for name, find := range found {
		if !tells(find) {
			t.Logf("pages are not %s on this system", name)
			delete(found, name)
		}
	}
	return found
}

// The filter of system calls in host/sandbox lets this one request through, by its number.
func TestScanRequest(t *testing.T) {
	if scanRequest != 0xc0606610 {
		t.Errorf("the request is %#x", uint64(scanRequest))
	}
}

func TestDirtyPages(t *testing.T) {
	for name, find := range finders(t) {
		t.Run(name, func(t *testing.T) {
			const pages = 3000 // more than one batch
			m := newTestMemory(t, picture(2000), pages*pageSize)
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

// However pages are found, and where they are not found at all, memories are put back.
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

// More pages than are worth finding are no error: they are dropped.
func TestScatteredPages(t *testing.T) {
	was := pagemap
	defer func() { pagemap = was }()
	for name, find := range finders(t) {
		pagemap = func() finder { return find }
		t.Run(name, func(t *testing.T) {
			const pages = 3 * maxDirty
			image := picture(pages)
			m := newTestMemory(t, image, pages*pageSize)
			all := m.Reallocate(pages * uint64(pageSize))
			for page := 0; page < pages; page += 2 {
				all[page*pageSize]++
			}
			if !m.rewind() || !bytes.Equal(all, image) {
				t.Error("the memory is not what it was")
			}
		})
	}
}

// A map that does not tell the truth is found out: one of zeros says that nothing was ever written.
func TestTells(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(1 << 40); err != nil {
		t.Skip("the file system has no sparse files")
	}
	if tells(readFinder(file)) || tells(scanFinder(file)) {
		t.Error("a map of zeros is trusted")
	}
	if empty, err := os.Open(os.DevNull); err != nil || tells(readFinder(empty)) {
		t.Errorf("an empty map is trusted, or %v", err)
	}
}

// The file is sealed: nobody can change it, not even by its descriptor.
func TestSealed(t *testing.T) {
	image := picture(1)
	s, err := newSource(image)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := unix.Pwrite(s.fd, []byte{1}, 0); err == nil {
		t.Error("the image can be written")
	}
	if err := unix.Ftruncate(s.fd, 0); err == nil {
		t.Error("the image can be cut")
	}
	if _, err := unix.Mmap(s.fd, 0, pageSize, unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		t.Error("the image can be mapped for writing")
	}
	if !bytes.Equal(s.view, image) {
		t.Error("the image changed")
	}
}
