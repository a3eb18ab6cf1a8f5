//go:build !(linux && (amd64 || arm64))

package snapshot

import "math"

// source contains the initial bytes of memories.
type source struct{ view []byte }

// newSource copies image into a source, without trailing zeros. After the end of its source, a
// memory contains zeros.
func newSource(image []byte) (*source, error) {
	return &source{view: append([]byte(nil), image[:usedLength(image)]...)}, nil
}

func (s *source) close() { s.view = nil }

// memory is the linear memory of an instance: a copy of a source, followed by zeros. Only one
// goroutine may use a memory at a time.
type memory struct {
	source *source
	all    []byte
	size   int    // the size that the guest sees
	max    uint64 // limit for all instances
	limit  uint64 // limit for this instance
}

// newMemory copies a source to a new memory. The memory cannot grow beyond limit, which is in
// bytes.
func newMemory(s *source, limit uint64) (*memory, error) {
	limit = min(max(limit, uint64(len(s.view))), math.MaxInt)
	return &memory{source: s, all: append([]byte(nil), s.view...), max: limit, limit: limit}, nil
}

// Reallocate sets the size of the memory in bytes. If size exceeds the limit, Reallocate returns
// nil, and memory.grow returns -1 to the guest.
func (m *memory) Reallocate(size uint64) []byte {
	if size > min(m.limit, m.max) {
		return nil
	}
	if more := int(size) - len(m.all); more > 0 {
		m.all = append(m.all, make([]byte, more)...)
	}
	m.size = int(size)
	return m.bytes()
}

// capture returns a source with the current content of the memory.
func (m *memory) capture() (*source, error) { return newSource(m.bytes()) }

// bytes returns the bytes that the guest sees.
func (m *memory) bytes() []byte { return m.all[:m.size:m.size] }

// Free releases the memory. Free may be called more than once.
func (m *memory) Free() { m.all, m.size = nil, 0 }

// rewind restores the initial content of the memory.
func (m *memory) rewind() bool {
	m.limit = m.max
	n := copy(m.all, m.source.view)
	clear(m.all[n:])
	return true
}
