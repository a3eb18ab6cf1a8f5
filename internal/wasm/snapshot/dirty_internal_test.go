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

func TestDirtyPages(t *testing.T) {
	if pagemap() == nil {
		t.Skip("the system does not tell which pages were written: /proc/self/pagemap")
	}
	const pages = 3000 // more than one batch
	m := newTestMemory(t, picture(2000), pages*pageSize)
	all := m.Reallocate(pages * uint64(pageSize))
	want := []int{0, 5, 1023, 1024, 1999, 2000, 2048, 2999}
	for _, page := range want {
		all[page*pageSize+7]++
	}
	got, ok := dirtyPages(all)
	if !ok || !slices.Equal(got, want) {
		t.Errorf("dirtyPages = %v, %t; want %v", got, ok, want)
	}
}

// Without the map of pages, memories are put back all the same.
func TestRewindWithoutPagemap(t *testing.T) {
	was := pagemap
	pagemap = func() *os.File { return nil }
	defer func() { pagemap = was }()
	TestRewind(t)
}

// A map that does not tell the truth is found out: one of zeros says that nothing was ever written.
func TestPagemapTells(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(1 << 40); err != nil {
		t.Skip("the file system has no sparse files")
	}
	if pagemapTells(file) {
		t.Error("a map of zeros is trusted")
	}
	if empty, err := os.Open(os.DevNull); err != nil || pagemapTells(empty) {
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
