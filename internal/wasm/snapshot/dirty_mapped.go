//go:build linux && (amd64 || arm64)

package snapshot

import (
	"os"
	"sync"
)

// maxDirty is up to how many pages rewind copies back and leaves in the working set. Above it, dropping them
// gives the memory of a heavy run back to the system.
const maxDirty = 1024

// finder returns which pages of a private mapping are copies of its own, by their index: those that are there, or were
// swapped out, and are no page of the file. False where it cannot tell.
type finder func(mapping []byte) (dirty []int, ok bool)

// dirtyPages is the finder of this system.
//
// To copy back what it finds is much faster than dropping all pages (madvise) where a run touched few, for the next run
// finds its pages in place; a fault costs more than a copy.
func dirtyPages(mapping []byte) ([]int, bool) {
	find := pagemap()
	if find == nil {
		return nil, false
	}
	return find(mapping)
}

// pagemap opens the map of this process, nil where there is none or where it cannot be trusted: a sandbox that
// imitates Linux may answer zeros, and a written page taken for a clean one would show one run to another.
var pagemap = sync.OnceValue(func() finder {
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	for _, find := range []finder{scanFinder(file), readFinder(file)} {
		if tells(find) {
			return find
		}
	}
	file.Close()
	return nil
})

// tells tries a finder on a small memory: of six pages, three of an image, one of each is left alone,
// read and written.
func tells(find finder) bool {
	image := make([]byte, 3*pageSize)
	for i := range image {
		image[i] = 1
	}
	s, err := newSource(image)
	if err != nil {
		return false
	}
	defer s.close()
	m, err := newMemory(s, uint64(6*pageSize))
	if err != nil {
		return false
	}
	defer m.Free()
	bytes := m.Reallocate(uint64(6 * pageSize))
	if bytes == nil {
		return false
	}
	read := bytes[1*pageSize] == 1 && bytes[4*pageSize] == 0
	bytes[2*pageSize], bytes[5*pageSize] = 2, 2
	dirty, ok := find(bytes)
	// The zero page that a read beyond the image maps may count as written: to clear it is wasted work, no harm.
	found := map[int]bool{}
	for _, page := range dirty {
		found[page] = true
	}
	return ok && read && !found[0] && !found[1] && found[2] && !found[3] && found[5]
}
