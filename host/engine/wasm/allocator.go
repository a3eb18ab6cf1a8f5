package wasm

import "github.com/tetratelabs/wazero/experimental"

// linearMemory is the memory of a guest, which grows up to a limit. It is its own allocator.
type linearMemory struct {
	bytes   []byte
	limit   uint64
	peak    int64 // the maximum size
	refused bool  // a request exceeded the limit
}

var _ experimental.LinearMemory = (*linearMemory)(nil)

// Allocate returns l as the memory of the next instance.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate grows the memory to size bytes. It returns nil if size exceeds the limit; memory.grow
// then returns -1.
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
