package bolt

import "sync/atomic"

// freelist says whether commits store bbolt's list of free pages in the file. It has 8 bytes for each of them: after a
// large removal every commit would write a megabyte. So that of a larger file is stored only when it is closed, and while
// the disk has so little room that Space reads the list. Where it is missing, after a crash, Open checks the file and goes
// through all pages in use to find the others.
type freelist struct {
	wanted atomic.Bool // by all commits from now on
	stored atomic.Bool // by the last commit; false if that is not sure
}

// smallFile is up to how many bytes a file has its list stored by each commit: it takes a few pages.
const smallFile = 8 << 20

// begin reports whether the commit of a transaction stores the list, in a file of some size.
func (f *freelist) begin(size int64) bool {
	if size <= smallFile || f.wanted.Load() {
		return true
	}
	f.stored.Store(false)
	return false
}

// want has every commit from now on store the list, and calls commit if the last one did not. Whether that one fails makes
// no difference: who needs the list can do without.
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
