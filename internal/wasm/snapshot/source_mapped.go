//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A source holds the bytes that memories begin with: a sealed file without a name, which the kernel shares among all
// that map it. One that was taken from a memory holds only what differs from another, its base. Its methods are safe
// for concurrent use; close comes after the last of them.
type source struct {
	fd int
	// view is the file mapped for reading. It is the only way to the bytes that no memory can write to.
	view []byte

	base    *source // nil for a file that holds everything
	patches []patch // where the file's bytes stand otherwise, in their order
	users   atomic.Int32
}

// patch is a run of pages of a memory, and where they are in the file; all in bytes.
type patch struct{ at, length, offset int }

// newSource copies image into a source. Past the image a memory is zero, so zeros at its end cost nothing.
func newSource(image []byte) (*source, error) {
	image = image[:usedLength(image)]
	s := &source{fd: -1}
	s.users.Store(1)
	if len(image) == 0 {
		return s, nil
	}
	return s, s.create(len(image), func(write func(at int, b []byte) error) error { return write(0, image) })
}

// newPatch makes a source of the pages of a memory that differ from its base.
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

// create makes the file, lets fill write it, seals it for ever and maps it. It ends with a whole page.
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
		return fmt.Errorf("create a memory file: %w", err)
	}
	if err := unix.Ftruncate(s.fd, int64(size)); err != nil {
		return fmt.Errorf("size a memory file: %w", err)
	}
	if err := fill(s.write); err != nil {
		return fmt.Errorf("write a memory file: %w", err)
	}
	// Nobody has mapped the file for writing, so what is sealed for the future is sealed. The stronger F_SEAL_WRITE
	// fails with EBUSY while the kernel itself still holds on to a page just written.
	const seals = unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal a memory file: %w", err)
	}
	if s.view, err = unix.Mmap(s.fd, 0, size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map a memory file: %w", err)
	}
	return nil
}

// write writes b to a place of the file that begins a page, where nothing was written before. Pages of zeros are left
// out: they take no memory then.
func (s *source) write(at int, b []byte) error {
	for len(b) > 0 {
		n := 0
		for n < len(b) && usedLength(b[n:min(n+pageSize, len(b))]) > 0 {
			n = min(n+pageSize, len(b))
		}
		if err := writeAll(s.fd, b[:n], at); err != nil {
			return err
		}
		n = min(n+pageSize, len(b)) // the page that ended the run is zero
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

// page returns the bytes of a page of a memory that begins with s, nil where it is zero.
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

// length is where memories that begin with s have nothing but zeros from, a whole number of pages.
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
