// Command chance is a guest that returns random values of a Go program and clock readings.
package main

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"time"
	"unsafe"
)

// drawn is set during initialisation: all runs from one image share it.
var drawn = rand.Uint64()

var old = number(9)

// ours is a generator with a fixed seed.
var ours = randv2.NewChaCha8([32]byte{7})

//go:wasmexport own
func own() uint64 { return ours.Uint64() }

// init makes the state differ for each run, as the initialisation of a package may do.
func init() {
	switch os.Getenv("ASK") {
	case "time":
		old[0] = time.Now().Nanosecond()
	case "random":
		var b [1]byte
		crand.Read(b[:])
		old[0] = int(b[0])
	case "exit":
		os.Exit(3)
	}
}

// answers contains the results of sample, in order.
var answers [10]uint64

//go:wasmexport sample
func sample() uint32 {
	var b [8]byte
	crand.Read(b[:])
	now := time.Now()
	answers = [10]uint64{
		binary.LittleEndian.Uint64(b[:]),
		rand.Uint64(),
		randv2.Uint64(),
		uint64(randv2.IntN(1 << 40)),
		order(old),
		order(number(9)),
		drawn,
		uint64(now.UnixNano()),
		uint64(time.Since(now)),
		uint64(len(old)),
	}
	return uint32(uintptr(unsafe.Pointer(&answers)))
}

func number(n int) map[int]int {
	m := map[int]int{}
	for i := range n {
		m[i] = i
	}
	return m
}

// order returns the keys as digits, in the order of an iteration.
func order(m map[int]int) (digits uint64) {
	for k := range m {
		digits = digits*10 + uint64(k)
	}
	return digits
}

func main() {}
