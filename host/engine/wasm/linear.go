package wasm

import "github.com/tetratelabs/wazero/experimental"

// linearMemory is a guest's memory, which grows up to a limit.
type linearMemory struct {
	bytes   []byte
	limit   uint64
	peak    int64 // the most it had
	refused bool  // it was asked for more
}

var _ experimental.LinearMemory = (*linearMemory)(nil)

// Allocate makes l the memory of the instance that is made next.
func (l *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return l }

// Reallocate grows to size bytes, or returns nil: memory.grow answers -1 then.
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

// Free lets go of the memory.
func (l *linearMemory) Free() { l.bytes = nil }
