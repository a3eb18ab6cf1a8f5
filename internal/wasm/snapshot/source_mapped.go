//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// source contains the initial bytes of memories in a sealed memory file. All mappings share the
// pages of the file. A source that was captured from a memory contains only the pages that differ
// from its base, which is another source. The methods of source are safe for concurrent use, but
// must not be called after close.
type source struct {
	fd int
	// view is a read-only mapping of the file. view always shows the original bytes, even if a
	// guest has changed its memory.
	view []byte

	base    *source // base is nil if the file contains all pages
	patches []patch // if there is a base, patches contains the ranges of pages in the file, in file order
	users   atomic.Int32
}

// patch is a range of pages of a memory. The field "offset" is the position of the range in the
// file. All fields of a patch are in bytes.
type patch struct{ at, length, offset int }

// newSource copies image into a source, without trailing zeros. After the end of its source, a
// memory contains zeros.
func newSource(image []byte) (*source, error) {
	image = image[:usedLength(image)]
	s := &source{fd: -1}
	s.users.Store(1)
	if len(image) == 0 {
		return s, nil
	}
	return s, s.create(len(image), func(write func(at int, b []byte) error) error { return write(0, image) })
}

// newPatch returns a source that contains only the pages of a memory that differ from base.
func newPatch(base *source, memory []byte, patches []patch) (*source, error) {
	s := &source{fd: -1, base: base, patches: patches}
	s.users.Store(1)
	base.users.Add(1)
	if len(patches) == 0 {
		return s, nil
	}
	last := patches[len(patches)-1]
	return s, s.create(last.offset+last.length, func(write func(at int, b []byte) error) error {
		for _, p := range patches {
			if err := write(p.offset, memory[p.at:min(p.at+p.length, len(memory))]); err != nil {
				return err
			}
		}
		return nil
	})
}

// create creates a file, calls fill to write the content, seals the file and maps it. The file size
// is rounded up to a whole page.
func (s *source) create(size int, fill func(write func(at int, b []byte) error) error) error {
	err := s.open(roundUp(size), fill)
	if err != nil {
		s.close()
	}
	return err
}

func (s *source) open(size int, fill func(write func(at int, b []byte) error) error) (err error) {
	if s.fd, err = unix.MemfdCreate("toolrun-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		s.fd = -1
		return fmt.Errorf("create memory file: %w", err)
	}
	if err := unix.Ftruncate(s.fd, int64(size)); err != nil {
		return fmt.Errorf("resize memory file: %w", err)
	}
	if err := fill(s.write); err != nil {
		return fmt.Errorf("write memory file: %w", err)
	}
	// Sealing future writes suffices, because the file has no writable mapping. The stronger seal
	// F_SEAL_WRITE fails with EBUSY while the kernel still references a page that was just written.
	const seals = unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal memory file: %w", err)
	}
	if s.view, err = unix.Mmap(s.fd, 0, size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map memory file: %w", err)
	}
	return nil
}

// write writes b to the start of a page that is still empty. write skips pages of zeros, so that
// they use no memory.
func (s *source) write(at int, b []byte) error {
	for len(b) > 0 {
		n := 0
		for n < len(b) && usedLength(b[n:min(n+pageSize, len(b))]) > 0 {
			n = min(n+pageSize, len(b))
		}
		if err := writeAll(s.fd, b[:n], at); err != nil {
			return err
		}
		n = min(n+pageSize, len(b)) // skip this page, because it contains only zeros
		at, b = at+n, b[n:]
	}
	return nil
}

func writeAll(fd int, b []byte, at int) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(fd, b, int64(at))
		if err != nil && err != unix.EINTR {
			return err
		}
		at, b = at+max(n, 0), b[max(n, 0):]
	}
	return nil
}

// page returns the initial bytes of the page at an address, or nil if all bytes are zero.
func (s *source) page(at int) []byte {
	if i, found := slices.BinarySearchFunc(s.patches, at, func(p patch, at int) int {
		if at < p.at {
			return 1
		}
		if at >= p.at+p.length {
			return -1
		}
		return 0
	}); found {
		p := s.patches[i]
		return s.view[p.offset+at-p.at:][:pageSize]
	}
	if s.base != nil {
		return s.base.page(at)
	}
	if at >= len(s.view) {
		return nil
	}
	return s.view[at:][:pageSize]
}

// length returns the size of the initial data in bytes. length is a multiple of the page size.
// After the initial data, memories contain zeros.
func (s *source) length() int {
	if s.base == nil {
		return len(s.view)
	}
	length := s.base.length()
	if n := len(s.patches); n > 0 {
		length = max(length, s.patches[n-1].at+s.patches[n-1].length)
	}
	return length
}

func (s *source) close() {
	if s.users.Add(-1) > 0 {
		return
	}
	if s.view != nil {
		_ = unix.Munmap(s.view)
		s.view = nil
	}
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
	if s.base != nil {
		s.base.close()
	}
}
