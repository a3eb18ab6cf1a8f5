//go:build !(linux && (amd64 || arm64))

package snapshot

import "math"

// A source holds the bytes that memories begin with.
type source struct{ view []byte }

// newSource copies image into a source. Past the image a memory is zero, so zeros at its end cost nothing.
func newSource(image []byte) (*source, error) {
	return &source{view: append([]byte(nil), image[:usedLength(image)]...)}, nil
}

func (s *source) close() { s.view = nil }

// memory is the linear memory of one instance: a copy of a source, and zeros beyond. It is used by one
// goroutine at a time.
type memory struct {
	source *source
	all    []byte
	size   int    // what the guest has, from the front of all
	most   uint64 // what any guest may have
	limit  uint64 // what this one may have
}

// newMemory copies a source. A memory never becomes larger than limit, in bytes.
func newMemory(s *source, limit uint64) (*memory, error) {
	limit = min(max(limit, uint64(len(s.view))), math.MaxInt)
	return &memory{source: s, all: append([]byte(nil), s.view...), most: limit, limit: limit}, nil
}

// Reallocate makes the memory size bytes long. It returns nil where that is more than the limit; the guest's
// memory.grow then answers -1.
func (m *memory) Reallocate(size uint64) []byte {
	if size > min(m.limit, m.most) {
		return nil
	}
	if more := int(size) - len(m.all); more > 0 {
		m.all = append(m.all, make([]byte, more)...)
	}
	m.size = int(size)
	return m.bytes()
}

// picture returns a source of the memory as it is.
func (m *memory) picture() (*source, error) { return newSource(m.bytes()) }

// bytes are those that the guest has.
func (m *memory) bytes() []byte { return m.all[:m.size:m.size] }

// Free gives the memory back. Freeing twice is fine.
func (m *memory) Free() { m.all, m.size = nil, 0 }

// rewind makes every byte what it was at first.
func (m *memory) rewind() bool {
	m.limit = m.most
	n := copy(m.all, m.source.view)
	clear(m.all[n:])
	return true
}
