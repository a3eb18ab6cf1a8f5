//go:build linux && (amd64 || arm64)

package snapshot

import (
	"os"
	"sync"
)

// maxDirty is the maximum number of pages that rewind restores by copying. Copied pages stay in the
// working set. If a run wrote to more pages, rewind drops all these pages, which returns their
// memory to the system.
const maxDirty = 1024

// finder returns the indexes of the pages in a private mapping that are private copies. A private
// copy is present or swapped out, and is not a page of the file. The result "ok" is false if the
// finder cannot determine these pages.
type finder func(mapping []byte) (dirty []int, ok bool)

// dirtyPages is the finder for this system.
//
// If a run wrote to few pages, copying these pages back is much faster than dropping them with
// madvise. Copied pages stay mapped for the next run, and mapping a page again with a page fault
// costs more than a copy.
func dirtyPages(mapping []byte) ([]int, bool) {
	find := pagemap()
	if find == nil {
		return nil, false
	}
	return find(mapping)
}

// pagemap returns a finder that uses the page map of this process. pagemap returns nil if the page
// map is missing or unreliable. A sandbox that emulates Linux may return zeros. If a written page
// were considered clean because of such zeros, its data would leak to another run.
var pagemap = sync.OnceValue(func() finder {
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	for _, find := range []finder{scanFinder(file), readFinder(file)} {
		if works(find) {
			return find
		}
	}
	file.Close()
	return nil
})

// works tests a finder on a small memory of six pages, the first three of which come from an image.
// In each group of three pages, one page is not accessed, one page is read and one page is written.
func works(find finder) bool {
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
	// A read beyond the image maps the zero page, which may count as written. Therefore the page at
	// index 4 may be dirty or not. Clearing such a page does no harm.
	found := map[int]bool{}
	for _, page := range dirty {
		found[page] = true
	}
	return ok && read && !found[0] && !found[1] && found[2] && !found[3] && found[5]
}
