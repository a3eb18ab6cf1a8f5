//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory is the linear memory of an instance: a private mapping of a source, followed by zeros. The
// kernel copies a page when the guest first writes to it. Addresses are reserved up to the maximum
// size, so the memory can grow in place. Only one goroutine may use a memory at a time.
type memory struct {
	source   *source
	reserved []byte
	size     int    // the size that the guest sees
	writable int    // the length that is mapped for writing, which is at least size
	limit    uint64 // maximum of size
}

// newMemory maps a source to a new memory. The memory cannot grow beyond limit, which is in bytes.
func newMemory(s *source, limit uint64) (*memory, error) {
	length := max(roundUp(int(limit)), s.length(), pageSize)
	reserved, err := unix.Mmap(-1, 0, length, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", length, err)
	}
	// Do not use huge pages, because a single write would clear two megabytes.
	_ = unix.Madvise(reserved, unix.MADV_NOHUGEPAGE)
	m := &memory{source: s, reserved: reserved, limit: uint64(length)}
	if err := m.mapSource(); err != nil {
		m.Free()
		return nil, fmt.Errorf("map image: %w", err)
	}
	return m, nil
}

// mapSource maps the image to the start of the reserved addresses. mapSource maps the base, zeros
// after the base, and then the patches over both.
func (m *memory) mapSource() error {
	s, length := m.source, m.source.length()
	whole := s
	if s.base != nil {
		whole = s.base
	}
	if len(whole.view) > 0 {
		if err := m.mapFile(whole, 0, 0, len(whole.view)); err != nil {
			return err
		}
	}
	if length > len(whole.view) {
		if err := unix.Mprotect(m.reserved[len(whole.view):length], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return err
		}
	}
	for _, p := range s.patches {
		if err := m.mapFile(s, p.at, p.offset, p.length); err != nil {
			return err
		}
	}
	m.writable = length
	return nil
}

func (m *memory) mapFile(s *source, at, offset, length int) error {
	_, err := unix.MmapPtr(s.fd, int64(offset), unsafe.Pointer(&m.reserved[at]), uintptr(length),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// Reallocate sets the size of the memory in bytes. If size exceeds the limit or the system is out
// of memory, Reallocate returns nil, and memory.grow returns -1 to the guest.
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

// bytes returns the bytes that the guest sees.
func (m *memory) bytes() []byte { return m.reserved[:m.size:m.size] }

// Free releases the addresses. Free may be called more than once.
func (m *memory) Free() {
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved)
		m.reserved = nil
	}
}

// rewind restores the initial content of the memory. If rewind fails, it returns false. After a
// failure of rewind, the memory must not be used again.
func (m *memory) rewind() bool {
	m.limit = uint64(len(m.reserved))
	if m.writable == 0 {
		return true
	}
	if dirty, ok := dirtyPages(m.reserved[:m.writable]); ok && len(dirty) <= maxDirty {
		m.restore(dirty)
		return true
	}
	// After the private copies are dropped, the memory contains the bytes of the file again,
	// followed by zeros.
	return unix.Madvise(m.reserved[:m.writable], unix.MADV_DONTNEED) == nil
}

// restore copies the image over the pages that may differ from it.
func (m *memory) restore(dirty []int) {
	for _, page := range dirty {
		at := page * pageSize
		to := m.reserved[at : at+pageSize]
		if from := m.source.page(at); from != nil {
			copy(to, from)
			continue
		}
		clear(to)
	}
}
