package wasi

import (
	"math"
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// full is a memory of 4 GiB. Every slice is within the bounds of this memory. The type full
// computes the end of a slice in the same way as wazero.
type full struct{ api.Memory }

func (full) Read(ptr, n uint32) ([]byte, bool) {
	if ptr+n < ptr {
		panic("slice bounds out of range")
	}
	return make([]byte, min(n, 8)), true
}

func TestEndOfFourGigabytes(t *testing.T) {
	mem := memory{full{}}
	for _, tt := range []struct {
		ptr, n uint32
		want   bool
	}{
		{0, 0, true},
		{math.MaxUint32 - 8, 8, true},
		{math.MaxUint32 - 7, 8, false},
		{math.MaxUint32, 1, false},
		{math.MaxUint32, math.MaxUint32, false},
		{8, math.MaxUint32, false},
		{1, math.MaxUint32 - 1, true},
	} {
		if _, ok := mem.bytes(tt.ptr, tt.n); ok != tt.want {
			t.Errorf("bytes(%d, %d) = %v; want %v", tt.ptr, tt.n, ok, tt.want)
		}
	}
}
