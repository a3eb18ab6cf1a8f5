// A guest that writes to its memory in every way that a Go program has.
package main

import "unsafe"

var (
	count   uint64
	history []uint64
	kept    []byte
	seen    = map[uint64]string{1: "from the initialisation"}
)

// push adds v to what this instance was told before and returns how much that is.
//
//go:wasmexport push
func push(v uint64) uint64 {
	count++
	history = append(history, v)
	seen[v] = "pushed"
	return count
}

// sum returns the sum of all that was pushed.
//
//go:wasmexport sum
func sum() (total uint64) {
	for _, v := range history {
		total += v
	}
	return total
}

// fill makes size bytes of garbage and keeps them; the memory grows with it.
//
//go:wasmexport fill
func fill(size uint32, pattern uint32) uint32 {
	kept = make([]byte, size)
	for i := range kept {
		kept[i] = byte(pattern)
	}
	return uint32(uintptr(unsafe.Pointer(&kept[0])))
}

func main() {}
