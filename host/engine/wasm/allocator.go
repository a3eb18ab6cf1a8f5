package wasm

import "github.com/tetratelabs/wazero/experimental"

// linearMemory is the memory of a guest. The memory can grow up to a limit. linearMemory implements
// wazero's interfaces for the allocator and for the memory.
type linearMemory struct {
	bytes   []byte
	limit   uint64
	peak    int64 // the maximum size
	refused bool  // true if a request exceeded the limit
}

var _ experimental.LinearMemory = (*linearMemory)(nil)

// Allocate returns l itself as the memory of the next instance.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate grows the memory to size bytes. If size exceeds the limit, Reallocate returns nil, and
// memory.grow returns -1 to the guest.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > l.limit {
		l.refused = true
		return nil
	}
	if size > uint64(cap(l.bytes)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(l.bytes))), l.limit))
		copy(grown, l.bytes)
		l.bytes = grown
	}
	l.bytes = l.bytes[:size]
	l.peak = max(l.peak, int64(size))
	return l.bytes
}

// Free releases the memory.
func (l *linearMemory) Free() { l.bytes = nil }
