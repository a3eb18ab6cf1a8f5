//lint:file-ignore U1000 the host calls what go:wasmexport exports

// Command work contains compute-bound code. A benchmark runs this code to measure how much slower
// an interruptible plug-in is.
package main

import (
	"crypto/sha256"
	"slices"
)

func main() {}

//go:wasmexport loop
func loop(times int64) int64 {
	var sum int64
	for i := range times {
		sum = sum*31 + i
	}
	return sum
}

//go:wasmexport fib
func fib(n int64) int64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:wasmexport hash
func hash(times int64) int32 {
	var sum [sha256.Size]byte
	for range times {
		sum = sha256.Sum256(sum[:])
	}
	return int32(sum[0])
}

var numbers []int

//go:wasmexport sort
func sort(times int64) int32 {
	numbers = numbers[:0]
	for i := range times {
		numbers = append(numbers, int(i*7919%times))
	}
	slices.Sort(numbers)
	return int32(numbers[0])
}
