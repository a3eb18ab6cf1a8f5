package index

import (
	"iter"
	"math/bits"
)

// bitset is a set of row numbers. Rows after the end of the bitset are not in the set.
type bitset []uint64

const wordBits = 64

// newBitset returns an empty set for row numbers less than n.
func newBitset(n int) bitset { return make(bitset, (n+wordBits-1)/wordBits) }

// fullBitset returns the set of all row numbers less than n.
func fullBitset(n int) bitset {
	s := newBitset(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := n % wordBits; rest > 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

func (s bitset) add(row uint32)    { s[row/wordBits] |= 1 << (row % wordBits) }
func (s bitset) remove(row uint32) { s[row/wordBits] &^= 1 << (row % wordBits) }

func (s bitset) contains(row uint32) bool {
	i := int(row / wordBits)
	return i < len(s) && s[i]&(1<<(row%wordBits)) != 0
}

// intersect removes the rows that are not in another set of the same size.
func (s bitset) intersect(other bitset) {
	for i := range s {
		s[i] &= other[i]
	}
}

// count returns the number of rows in the set.
func (s bitset) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// runs returns all sequences of consecutive rows of the set that lie between the rows "start" and
// "end". Each sequence is represented by its first row and the row after its last row.
func (s bitset) runs(start, end uint32) iter.Seq2[uint32, uint32] {
	return func(yield func(uint32, uint32) bool) {
		for row := s.next(start, end, 0); row < end; {
			after := s.next(row, end, ^uint64(0))
			if !yield(row, after) {
				return
			}
			row = s.next(after, end, 0)
		}
	}
}

// The method "next" returns the first row of the set between the rows "start" and "end". If the set
// has no such row, the method returns "end". If all bits of the argument "invert" are 1, the method
// instead looks for a row that is not in the set.
func (s bitset) next(row, end uint32, invert uint64) uint32 {
	for row < end {
		word := (s[row/wordBits] ^ invert) >> (row % wordBits)
		if word != 0 {
			return min(end, row+uint32(bits.TrailingZeros64(word)))
		}
		row = (row/wordBits + 1) * wordBits
	}
	return end
}
