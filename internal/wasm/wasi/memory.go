package wasi

import (
	"encoding/binary"
	"math"
	"reflect"

	"github.com/tetratelabs/wazero/api"
)

var le = binary.LittleEndian

// Bounds on lists that a guest passes. More is EINVAL, as it is beyond IOV_MAX in POSIX.
const (
	maxVectors       = 1024
	maxSubscriptions = 1024
)

// memory is the guest's memory. Whatever is taken from it is checked here. The zero value is that of a guest
// which has none: every pointer is at fault.
type memory struct{ api.Memory }

// memoryOf returns the memory of a guest. For one without, wazero returns an interface that holds a nil pointer,
// which no comparison with nil finds.
func memoryOf(mod api.Module) memory {
	mem := mod.Memory()
	if mem == nil || reflect.ValueOf(mem).IsNil() {
		return memory{}
	}
	return memory{mem}
}

// bytes returns n bytes at ptr, write-through. The last byte below 4 GiB cannot be had: wazero computes the
// end of a slice in 32 bits, where it wraps to zero.
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

// vectors are the buffers of a scattered read or a gathered write (an iovec_array), all within the memory.
type vectors struct {
	mem   memory
	list  []byte // per buffer its pointer and its length
	total uint32 // bytes in all buffers
}

// vectors checks n buffers listed at ptr. Buffers may overlap, so their sum is bounded apart from the memory:
// by what a count of bytes may be, as in POSIX.
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

// all yields the buffers in their order.
func (v vectors) all(yield func([]byte) bool) {
	for at := 0; at < len(v.list); at += 8 {
		buffer, ok := v.mem.bytes(le.Uint32(v.list[at:]), le.Uint32(v.list[at+4:]))
		if !ok || !yield(buffer) {
			return
		}
	}
}
