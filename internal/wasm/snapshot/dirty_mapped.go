//go:build linux && (amd64 || arm64)

package snapshot

import (
	"os"
	"sync"
)

// maxDirty is the maximum number of pages that rewind restores by copying, and so leaves in the
// working set. With more pages it drops them, which returns the memory of a heavy run to the
// system.
const maxDirty = 1024

// finder returns the indexes of the pages of a private mapping that are private copies: those that
// are present or swapped out, and are not a page of the file. It returns false if it cannot
// determine them.
type finder func(mapping []byte) (dirty []int, ok bool)

// dirtyPages is the finder of this system.
//
// If a run touched few pages, copying them back is much faster than dropping all (madvise): the
// pages stay mapped for the next run, and a page fault costs more than a copy.
func dirtyPages(mapping []byte) ([]int, bool) {
	find := pagemap()
	if find == nil {
		return nil, false
	}
	return find(mapping)
}

// pagemap returns a finder that uses the page map of this process, nil if there is none or it is
// not reliable. A sandbox that emulates Linux may return zeros, and a written page taken for a
// clean one would leak data to another run.
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

// works tests a finder on a small memory of six pages, three of them from an image. Of each three,
// one is untouched, one is read and one is written.
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
	// A read beyond the image maps the zero page, which may count as written. Clearing it is
	// harmless.
	found := map[int]bool{}
	for _, page := range dirty {
		found[page] = true
	}
	return ok && read && !found[0] && !found[1] && found[2] && !found[3] && found[5]
}
