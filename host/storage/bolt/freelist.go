package bolt

import "sync/atomic"

// freelist decides whether commits store bbolt's list of free pages in the file. The list takes 8
// bytes for each free page: after a large removal, every commit would write a megabyte. So the list
// of a large file is stored only when the file is closed, and while the disk has so little room
// that Space reads the list. If the list is missing, after a crash, Open checks the file and visits
// all pages in use to find the free ones.
type freelist struct {
	wanted atomic.Bool // by all commits from now on
	stored atomic.Bool // by the last commit; false if that is not sure
}

// smallFile is the largest size in bytes of a file whose list is stored by each commit: it takes
// only a few pages.
const smallFile = 8 << 20

// begin reports whether the commit of a transaction stores the list, in a file of this size.
func (f *freelist) begin(size int64) bool {
	if size <= smallFile || f.wanted.Load() {
		return true
	}
	f.stored.Store(false)
	return false
}

// want makes every commit from now on store the list, and calls commit if the last one did not. A
// failure of that commit makes no difference: a caller that needs the list can do without it.
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
