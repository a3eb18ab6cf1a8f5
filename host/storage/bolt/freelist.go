package bolt

import "sync/atomic"

// freelist decides whether commits store bbolt's list of free pages in the file. The list takes 8
// bytes for each free page. After a large removal, the free list is long, and every commit that
// stores the list writes a megabyte. The list of a large file is therefore stored only in two
// cases: when the file is closed, and when Space needs the list because the disk is nearly full.
//
// After a crash, the file can lack the list. If the list is missing, Open checks the file and
// visits all used pages to find the free pages.
type freelist struct {
	wanted atomic.Bool // true if all later commits store the list
	stored atomic.Bool // true if the last commit is known to have stored the list
}

// smallFile is the maximum size, in bytes, of a small file. Each commit of a small file stores the
// list of free pages. The list of a small file takes only a few pages.
const smallFile = 8 << 20

// begin reports whether the commit of a transaction stores the list. The argument "size" is the
// size of the file.
func (f *freelist) begin(size int64) bool {
	if size <= smallFile || f.wanted.Load() {
		return true
	}
	f.stored.Store(false)
	return false
}

// want makes all future commits store the list. If the last commit did not store the list, want
// calls the function "commit". want ignores an error of the function "commit", because all readers
// of the list can handle a missing list.
func (f *freelist) want(commit func()) {
	f.wanted.Store(true)
	if !f.stored.Load() {
		commit()
	}
}

// hasFreelist reports whether the file contains the list of free pages.
func hasFreelist(f file) bool {
	info, err := f.fd.Stat()
	if err != nil {
		return false
	}
	h, _, err := readHeader(f.fd, info.Size())
	return err == nil && h.freelist != noFreelist
}
