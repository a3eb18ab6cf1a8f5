// Command writer is a guest that writes to its memory in all ways of a Go program.
package main

import "unsafe"

var (
	count   uint64
	history []uint64
	kept    []byte
	seen    = map[uint64]string{1: "from the initialisation"}
)

// push appends v to the values of this instance and returns their number.
//
//go:wasmexport push
func push(v uint64) uint64 {
	count++
	history = append(history, v)
	seen[v] = "pushed"
	return count
}

// sum returns the sum of all pushed values.
//
//go:wasmexport sum
func sum() (total uint64) {
	for _, v := range history {
		total += v
	}
	return total
}

// fill allocates size bytes and keeps them, so that the memory grows.
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
