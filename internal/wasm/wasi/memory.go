package wasi

import (
	"encoding/binary"
	"math"
	"reflect"

	"github.com/tetratelabs/wazero/api"
)

var le = binary.LittleEndian

// These are the maximum lengths of lists that a guest passes. If a list is longer, the result is
// EINVAL, as for lists beyond IOV_MAX in POSIX.
const (
	maxVectors       = 1024
	maxSubscriptions = 1024
)

// memory is the memory of a guest. The methods of memory check the bounds of all accesses. The zero
// value of memory is for a guest without memory, so every pointer is invalid.
type memory struct{ api.Memory }

// memoryOf returns the memory of a guest. If the guest has no memory, wazero returns an interface
// that contains a nil pointer and is therefore not equal to nil.
func memoryOf(mod api.Module) memory {
	mem := mod.Memory()
	if mem == nil || reflect.ValueOf(mem).IsNil() {
		return memory{}
	}
	return memory{mem}
}

// bytes returns n bytes at ptr without copying them. The last byte below 4 GiB is not accessible,
// because wazero computes the end of a slice in 32 bits, which overflows to zero.
func (m memory) bytes(ptr, n uint32) ([]byte, bool) {
	if m.Memory == nil || uint64(ptr)+uint64(n) > math.MaxUint32 {
		return nil, false
	}
	return m.Read(ptr, n)
}

// put32 writes v at ptr.
func (m memory) put32(ptr, v uint32) errno {
	b, ok := m.bytes(ptr, 4)
	if !ok {
		return errFault
	}
	le.PutUint32(b, v)
	return success
}

// put64 writes v at ptr.
func (m memory) put64(ptr uint32, v uint64) errno {
	b, ok := m.bytes(ptr, 8)
	if !ok {
		return errFault
	}
	le.PutUint64(b, v)
	return success
}

// vectors is the list of buffers (an iovec_array) for a scattered read or a gathered write. All
// buffers are within the memory.
type vectors struct {
	mem   memory
	list  []byte // the pointer and the length of each buffer
	total uint32 // sum of the lengths
}

// vectors checks the n buffers that are listed at ptr. Buffers may overlap, so their total size may
// exceed the memory. The total size must fit in a byte count, as in POSIX.
func (m memory) vectors(ptr, n uint32) (vectors, errno) {
	if n > maxVectors {
		return vectors{}, errInval
	}
	list, ok := m.bytes(ptr, n*8)
	if !ok {
		return vectors{}, errFault
	}
	var total uint64
	for at := 0; at < len(list); at += 8 {
		length := le.Uint32(list[at+4:])
		if _, ok := m.bytes(le.Uint32(list[at:]), length); !ok {
			return vectors{}, errFault
		}
		total += uint64(length)
	}
	if total > math.MaxInt32 {
		return vectors{}, errInval
	}
	return vectors{mem: m, list: list, total: uint32(total)}, success
}

// all iterates over the buffers in list order.
func (v vectors) all(yield func([]byte) bool) {
	for at := 0; at < len(v.list); at += 8 {
		buffer, ok := v.mem.bytes(le.Uint32(v.list[at:]), le.Uint32(v.list[at+4:]))
		if !ok || !yield(buffer) {
			return
		}
	}
}
