//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"
)

// maxDirty is up to how many pages rewind copies back and leaves in the working set. Above it, dropping them
// gives the memory of a heavy run back to the system.
const maxDirty = 1024

// The bits of an entry of /proc/self/pagemap. Documentation/admin-guide/mm/pagemap.rst of Linux; none of these
// three needs a privilege.
const (
	pagemapPresent = 1 << 63
	pagemapSwapped = 1 << 62
	pagemapFile    = 1 << 61 // a page of a file, or of memory that is shared
	pagemapEntry   = 8
)

// dirtyPages returns which pages of a private mapping are copies of its own, by their index: those that are
// there, or were swapped out, and are no page of the file. False where the kernel does not tell.
//
// This is much faster than dropping all pages (madvise) where a run touched few, for the next run finds its
// pages in place; a fault costs more than a copy.
func dirtyPages(mapping []byte) ([]int, bool) {
	file := pagemap()
	if file == nil {
		return nil, false
	}
	return readPagemap(file, mapping)
}

func readPagemap(file *os.File, mapping []byte) ([]int, bool) {
	buffer := pagemapBuffers.Get().(*[pagemapBatch * pagemapEntry]byte)
	defer pagemapBuffers.Put(buffer)
	var dirty []int
	first := int64(uintptr(unsafe.Pointer(&mapping[0]))) / int64(pageSize)
	for page, pages := 0, len(mapping)/pageSize; page < pages; {
		entries := buffer[:min(pages-page, pagemapBatch)*pagemapEntry]
		if _, err := file.ReadAt(entries, (first+int64(page))*pagemapEntry); err != nil {
			return nil, false
		}
		for ; len(entries) > 0; entries = entries[pagemapEntry:] {
			e := binary.NativeEndian.Uint64(entries)
			if e&(pagemapPresent|pagemapSwapped) != 0 && e&pagemapFile == 0 {
				dirty = append(dirty, page)
			}
			page++
		}
	}
	return dirty, true
}

// pagemapBatch is how many entries are read at once.
const pagemapBatch = 1024

var pagemapBuffers = sync.Pool{New: func() any { return new([pagemapBatch * pagemapEntry]byte) }}

// pagemap opens the map of this process, nil where there is none or where it cannot be trusted: a sandbox that
// imitates Linux may answer zeros, and a written page taken for a clean one would show one run to another.
var pagemap = sync.OnceValue(func() *os.File {
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	if !pagemapTells(file) {
		file.Close()
		return nil
	}
	return file
})

// pagemapTells tries the map on a small memory: of six pages, three of an image, one of each is left alone,
// read and written.
func pagemapTells(file *os.File) bool {
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
	dirty, ok := readPagemap(file, bytes)
	// The zero page that a read beyond the image maps may count as written: to clear it is wasted work, no harm.
	found := map[int]bool{}
	for _, page := range dirty {
		found[page] = true
	}
	return ok && read && !found[0] && !found[1] && found[2] && !found[3] && found[5]
}
