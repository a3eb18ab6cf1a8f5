//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A source holds the bytes that memories begin with: a sealed file without a name, which the kernel shares
// among all that map it. Its methods are safe for concurrent use; close comes after the last of them.
type source struct {
	fd int
	// view is the file mapped for reading. It is the only way to the bytes that no memory can write to.
	view []byte
}

// newSource copies image into a source. Past the image a memory is zero, so zeros at its end cost nothing.
func newSource(image []byte) (*source, error) {
	image = image[:usedLength(image)]
	if len(image) == 0 {
		return &source{fd: -1}, nil
	}
	fd, err := unix.MemfdCreate("toolrun-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("create a memory file: %w", err)
	}
	s := &source{fd: fd}
	if err := s.fill(image); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// fill writes the file, seals it for ever and maps it. It ends with a whole page.
func (s *source) fill(image []byte) error {
	size := roundUp(len(image))
	if err := unix.Ftruncate(s.fd, int64(size)); err != nil {
		return fmt.Errorf("size a memory file: %w", err)
	}
	for at := 0; at < len(image); {
		n, err := unix.Pwrite(s.fd, image[at:], int64(at))
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("write a memory file: %w", err)
		}
		at += max(n, 0)
	}
	// Nobody has mapped the file for writing, so what is sealed for the future is sealed. The stronger F_SEAL_WRITE
	// fails with EBUSY while the kernel itself still holds on to a page just written.
	const seals = unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal a memory file: %w", err)
	}
	view, err := unix.Mmap(s.fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map a memory file: %w", err)
	}
	s.view = view
	return nil
}

func (s *source) close() {
	if s.view != nil {
		_ = unix.Munmap(s.view)
		s.view = nil
	}
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

// memory is the linear memory of one instance: a private mapping of a source, of which the kernel copies a
// page when the guest first writes to it, and zeros beyond. Addresses are reserved up to the maximum, so that
// it grows in place. It is used by one goroutine at a time.
type memory struct {
	source   *source
	reserved []byte
	size     int    // what the guest has, from the front
	writable int    // what is mapped for writing, from the front; never less than size
	limit    uint64 // what the guest may have
}

// newMemory maps a source. A memory never becomes larger than limit, in bytes.
func newMemory(s *source, limit uint64) (*memory, error) {
	length := max(roundUp(int(limit)), len(s.view), pageSize)
	reserved, err := unix.Mmap(-1, 0, length, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", length, err)
	}
	// One write to a huge page would clear two megabytes.
	_ = unix.Madvise(reserved, unix.MADV_NOHUGEPAGE)
	m := &memory{source: s, reserved: reserved, limit: uint64(length)}
	if err := m.mapSource(); err != nil {
		m.Free()
		return nil, err
	}
	return m, nil
}

// mapSource puts the image to the front of the reserved addresses.
func (m *memory) mapSource() error {
	if len(m.source.view) == 0 {
		return nil
	}
	_, err := unix.MmapPtr(m.source.fd, 0, unsafe.Pointer(&m.reserved[0]), uintptr(len(m.source.view)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("map an image: %w", err)
	}
	m.writable = len(m.source.view)
	return nil
}

// Reallocate makes the memory size bytes long. It returns nil where that is more than the limit or than the
// system gives; the guest's memory.grow then answers -1.
func (m *memory) Reallocate(size uint64) []byte {
	if size > min(m.limit, uint64(len(m.reserved))) {
		return nil
	}
	n := int(size)
	if n > m.writable {
		end := roundUp(n)
		if unix.Mprotect(m.reserved[m.writable:end], unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil
		}
		m.writable = end
	}
	m.size = n
	return m.bytes()
}

// bytes are those that the guest has.
func (m *memory) bytes() []byte { return m.reserved[:m.size:m.size] }

// Free gives the addresses back. Freeing twice is fine.
func (m *memory) Free() {
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved)
		m.reserved = nil
	}
}

// rewind makes every byte what it was at first. It returns false where it could not; then the memory must not
// be used again.
func (m *memory) rewind() bool {
	m.limit = uint64(len(m.reserved))
	if m.writable == 0 {
		return true
	}
	if dirty, ok := dirtyPages(m.reserved[:m.writable]); ok && len(dirty) <= maxDirty {
		m.restore(dirty)
		return true
	}
	// Dropping the private copies makes the file's bytes show again, and zeros behind them.
	return unix.Madvise(m.reserved[:m.writable], unix.MADV_DONTNEED) == nil
}

// restore copies the image over pages that may differ from it.
func (m *memory) restore(dirty []int) {
	for _, page := range dirty {
		at := page * pageSize
		to := m.reserved[at : at+pageSize]
		if at < len(m.source.view) {
			copy(to, m.source.view[at:])
			continue
		}
		clear(to)
	}
}
