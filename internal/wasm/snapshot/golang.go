package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
)

// The Go runtime seeds one generator per thread when it starts, from 32 bytes of random_get, and takes from it
// whatever is random without being crypto/rand: the functions of math/rand and math/rand/v2, the seed of each
// map and the order in which it is walked. All runs that start from one image would see the same numbers. So
// Take finds that generator in the memory and Restore gives it a new seed.
//
// What it looks for is the type State of internal/chacha8rand (the generator itself is specified:
// https://c2sp.org/chacha8rand):
//
//	buf [32]uint64   the numbers of the current block
//	seed [4]uint64   what the block was computed from,
//	i, n, c uint32   with the counter c; the next number is buf[i], the last buf[n-1]
//
// Nothing is taken on trust: the block must follow from its seed, and the seed from the 32 bytes that the guest
// was given. A Go version that changes this is one whose generator is not found, and whose guests are
// initialised for every run.
const (
	goSeedSize   = 32 // bytes that the runtime asks for
	goBlock      = 32 // numbers in a block
	goBlockLast  = 28 // numbers in a seed's last block; the other four are the next seed
	goCounterInc = 4  // c grows by this from block to block
	goCounterMax = 16 // and is never this
	goPerSeed    = 3*goBlock + goBlockLast

	goSeedAt   = 8 * goBlock
	goIndexAt  = goSeedAt + goSeedSize
	goStateEnd = goIndexAt + 3*4
)

// Bounds of the search: how many numbers the runtime drew before it seeded its first thread's generator (four,
// in Go 1.26), and how often that generator went on to a new seed since: 256 times are 31,744 numbers.
const (
	goDrawnBefore = 60
	goReseeded    = 256
)

// What a guest may put into the search's way: more than this and it is initialised for every run. Programs have
// one generator, and of other memory next to nothing looks like one.
const (
	maxGoGenerators = 16
	maxGoLookalikes = 1 << 16
)

var errLookalikes = fmt.Errorf("%w: too much of its memory looks like the generator of its random numbers", ErrVaries)

// findGoGenerators returns the addresses of the generators in memory that descend from the random bytes that
// the runtime was given. What costs most, to compute a block, comes last: for seeds of that family alone.
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

// looksLikeGenerator is a cheap test that nearly nothing else passes.
func looksLikeGenerator(state []byte) bool {
	i := binary.LittleEndian.Uint32(state[goIndexAt:])
	n := binary.LittleEndian.Uint32(state[goIndexAt+4:])
	c := binary.LittleEndian.Uint32(state[goIndexAt+8:])
	last := c == goCounterMax-goCounterInc
	return i <= n && c < goCounterMax && c%goCounterInc == 0 && (n == goBlock && !last || n == goBlockLast && last)
}

// isGenerator reports whether the block follows from the seed and the counter.
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

// descendants are the seeds that a thread's generator can have: four numbers in a row from the runtime's first
// generator, and the seeds that follow from those.
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

// successor returns the seed that a generator goes on to when it has used one up. That seed is never output;
// the encoded form of the generator shows it.
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

// generate returns count numbers, as a little-endian machine has them in memory.
func generate(seed [goSeedSize]byte, count int) []byte {
	g := rand.NewChaCha8(seed)
	numbers := make([]byte, 0, 8*count)
	for range count {
		numbers = binary.LittleEndian.AppendUint64(numbers, g.Uint64())
	}
	return numbers
}

// seedGoGenerators puts the generators at the given addresses into the state that they have after they were
// seeded with bytes from random.
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
