package bolt

import "sync/atomic"

// freelist decides whether commits store bbolt's list of free pages in the file. The list takes at
// least one page, and 8 bytes for each free page: after a large removal, every commit would write a
// megabyte. The list is therefore stored only in two cases: when a large file is closed, and while
// the disk has so little free space that Space reads the list.
//
// If the list is missing, Open checks the file and visits all pages in use to find the free pages.
// The list of a large file is missing only after a crash.
type freelist struct {
	wanted atomic.Bool // whether all commits from now on store the list
	stored atomic.Bool // whether the last commit stored the list; false if unknown
}

// smallFile is the maximum size, in bytes, of a file whose list is not stored when the file is
// closed. A visit of all its pages takes less time than the commit that would store the list.
const smallFile = 8 << 20

// begin reports whether the commit of a transaction stores the list.
func (f *freelist) begin() bool {
	if f.wanted.Load() {
		return true
	}
	f.stored.Store(false)
	return false
}

// want makes all future commits store the list. If the last commit did not store the list, want
// calls the function commit. An error of this function is ignored, because every reader of the list
// can work without it.
func (f *freelist) want(commit func()) {
	f.wanted.Store(true)
	if !f.stored.Load() {
		commit()
	}
}

// hasFreelist reports whether the file has the list.
func hasFreelist(f file) bool {
	info, err := f.fd.Stat()
	if err != nil {
		return false
	}
	h, _, err := readHeader(f.fd, info.Size())
	return err == nil && h.freelist != noFreelist
}
