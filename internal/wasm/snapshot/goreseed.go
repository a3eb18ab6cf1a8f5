package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
)

// When the Go runtime starts, it seeds one generator for each thread from 32 bytes of random_get.
// All random data except crypto/rand comes from these generators: math/rand, math/rand/v2, the seed
// of each map, and the iteration order of maps. Without reseeding, all runs that start from the
// same image would see the same numbers. CaptureInitialized therefore finds the generators in
// memory, and Restore reseeds them.
//
// CaptureInitialized searches for values of the type State of internal/chacha8rand. The generator
// is specified at https://c2sp.org/chacha8rand.
//
//	buf [32]uint64   the numbers of the current block
//	seed [4]uint64   the seed of the block,
//	i, n, c uint32   with the counter c; the next number is buf[i], the last buf[n-1]
//
// CaptureInitialized verifies each value that it finds. The block of the value must follow from its
// seed, and the seed must follow from the 32 bytes that the guest received. If a Go version changes
// the type, the generator is not found. Guests built with that version are then initialized in
// every run.
const (
	goSeedSize   = 32 // the number of bytes that the runtime requests
	goBlock      = 32 // numbers per block
	goBlockLast  = 28 // the numbers in the last block of a seed, without the four that become the next seed
	goCounterInc = 4  // the counter c increases by goCounterInc from block to block
	goCounterMax = 16 // the counter c is always less than goCounterMax
	goPerSeed    = 3*goBlock + goBlockLast

	goSeedAt   = 8 * goBlock
	goIndexAt  = goSeedAt + goSeedSize
	goStateEnd = goIndexAt + 3*4
)

// The following constants limit the search for generators. goDrawnBefore limits how many numbers
// the runtime drew before it seeded the generator of its first thread. In Go 1.26, the runtime
// draws four numbers. goReseeded limits how many seeds the generator of the first thread has used
// since then. A generator uses 256 seeds for 31,744 numbers.
const (
	goDrawnBefore = 60
	goReseeded    = 256
)

// The following constants limit the cost of the search for generators. If a guest exceeds the
// limits of the search, it is initialized in every run. A program usually has one generator, and
// hardly any other data in memory resembles a generator.
const (
	maxGoGenerators = 16
	maxGoLookalikes = 1 << 16
)

var errLookalikes = fmt.Errorf("%w: too many memory regions resemble a random number generator", ErrVaries)

// findGoGenerators returns the addresses of all generators in memory whose seeds derive from the
// random bytes that the runtime received. The most expensive check computes a block. The block is
// therefore computed last, and only for the remaining seeds.
func findGoGenerators(ctx context.Context, memory, seed []byte) ([]int, error) {
	var found []int
	var family map[[goSeedSize]byte]bool
	lookalikes, related := 0, 0
	for at := 0; at+goStateEnd <= len(memory); at += 8 {
		if at%wasmPage == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !looksLikeGenerator(memory[at:]) {
			continue
		}
		if family == nil {
			family = descendants([goSeedSize]byte(seed))
		}
		if lookalikes++; lookalikes > maxGoLookalikes {
			return nil, errLookalikes
		}
		if !family[[goSeedSize]byte(memory[at+goSeedAt:])] {
			continue
		}
		if related++; related > maxGoGenerators {
			return nil, errLookalikes
		}
		if isGenerator(memory[at:]) {
			found = append(found, at)
		}
	}
	return found, nil
}

// looksLikeGenerator is a fast check. looksLikeGenerator returns false for nearly every address
// without a generator.
func looksLikeGenerator(state []byte) bool {
	i := binary.LittleEndian.Uint32(state[goIndexAt:])
	n := binary.LittleEndian.Uint32(state[goIndexAt+4:])
	c := binary.LittleEndian.Uint32(state[goIndexAt+8:])
	last := c == goCounterMax-goCounterInc
	return i <= n && c < goCounterMax && c%goCounterInc == 0 && (n == goBlock && !last || n == goBlockLast && last)
}

// isGenerator reports whether the generator's block is the output of ChaCha8 for its seed and
// counter.
func isGenerator(state []byte) bool {
	g := rand.NewChaCha8([goSeedSize]byte(state[goSeedAt:]))
	c := binary.LittleEndian.Uint32(state[goIndexAt+8:])
	n := binary.LittleEndian.Uint32(state[goIndexAt+4:])
	for range c / goCounterInc * goBlock {
		g.Uint64()
	}
	for i := range n {
		if binary.LittleEndian.Uint64(state[8*i:]) != g.Uint64() {
			return false
		}
	}
	return true
}

// descendants returns the seeds that a thread's generator can have. The first seed consists of four
// consecutive numbers from the runtime's first generator. The generator computes each further seed
// from the seed before it.
func descendants(seed [goSeedSize]byte) map[[goSeedSize]byte]bool {
	family := map[[goSeedSize]byte]bool{}
	numbers := generate(seed, goDrawnBefore+goSeedSize/8)
	for drawn := range goDrawnBefore {
		next := [goSeedSize]byte(numbers[8*drawn:])
		for range goReseeded {
			family[next] = true
			next = successor(next)
		}
	}
	return family
}

// successor returns the next seed of a generator. The generator never outputs its next seed, but
// the state of the generator in memory contains it.
func successor(seed [goSeedSize]byte) [goSeedSize]byte {
	g := rand.NewChaCha8(seed)
	for range goPerSeed + 1 {
		g.Uint64()
	}
	encoded, err := g.MarshalBinary()
	if err != nil || len(encoded) < goSeedSize {
		return [goSeedSize]byte{}
	}
	return [goSeedSize]byte(encoded[len(encoded)-goSeedSize:])
}

// generate returns count numbers in little-endian order.
func generate(seed [goSeedSize]byte, count int) []byte {
	g := rand.NewChaCha8(seed)
	numbers := make([]byte, 0, 8*count)
	for range count {
		numbers = binary.LittleEndian.AppendUint64(numbers, g.Uint64())
	}
	return numbers
}

// seedGoGenerators seeds the generators at the given addresses with bytes from random.
func seedGoGenerators(memory []byte, addresses []int, random io.Reader) error {
	for _, at := range addresses {
		var seed [goSeedSize]byte
		if _, err := io.ReadFull(random, seed[:]); err != nil {
			return err
		}
		copy(memory[at:], generate(seed, goBlock))
		copy(memory[at+goSeedAt:], seed[:])
		copy(memory[at+goIndexAt:], []byte{0, 0, 0, 0, goBlock, 0, 0, 0, 0, 0, 0, 0}) // i, n, c
	}
	return nil
}
