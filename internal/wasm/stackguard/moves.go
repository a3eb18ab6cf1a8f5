package stackguard

import (
	"iter"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// The opcodes that move the stack pointer.
const (
	globalSet = 0x24
	i32Add    = 0x6a
	i32Sub    = 0x6b
)

// move is an instruction that may move the stack pointer down.
type move struct {
	end  int                // the end of the instruction in the code
	last binary.Instruction // the previous instruction
	// by is the distance in bytes, if known is true.
	by    int
	known bool
	// looped is true inside a loop, which may move the pointer repeatedly.
	looped bool
}

// moves returns the instructions of code that may move the pointer down. An addition of a constant
// that is not negative, as at the end of a function, moves it up.
func moves(code []byte, pointer uint32) iter.Seq[move] {
	return func(yield func(move) bool) {
		var blocks []bool                   // for each open block, whether it is a loop
		loops := 0                          // the number of open loops
		var before, last binary.Instruction // the two instructions before in
		var constant binary.Instruction     // the instruction before them
		for in := range binary.Instructions(code) {
			switch in.Op {
			case binary.Block, binary.Loop, binary.If:
				blocks = append(blocks, in.Op == binary.Loop)
				if in.Op == binary.Loop {
					loops++
				}
			case binary.End:
				if len(blocks) > 0 && blocks[len(blocks)-1] {
					loops--
				}
				blocks = blocks[:max(len(blocks)-1, 0)]
			case globalSet:
				if in.Index != pointer || frees(code, before, last) {
					break
				}
				by, known := taken(code, constant, before, last)
				if !yield(move{end: in.End, last: last, by: by, known: known, looped: loops > 0}) {
					return
				}
			}
			constant, before, last = before, last, in
		}
	}
}

// frees reports whether two instructions compute a stack pointer that is not below their operand.
func frees(code []byte, constant, add binary.Instruction) bool {
	n, ok := constantOf(code, constant)
	return ok && add.Op == i32Add && n >= 0
}

// taken returns the distance between the stack pointer that three instructions compute and their
// operand. It returns false unless they subtract a constant. The third one may store the result in
// a local.
func taken(code []byte, first, second, third binary.Instruction) (n int, ok bool) {
	if third.Op != localTee {
		first, second = second, third
	}
	by, ok := constantOf(code, first)
	return int(by), ok && second.Op == i32Sub && by >= 0
}

// constantOf returns the value of an i32.const.
func constantOf(code []byte, in binary.Instruction) (n int32, ok bool) {
	if in.Op != i32Const {
		return 0, false
	}
	const sign, digits = 0x40, 0x7f
	shift := 0
	for _, b := range code[in.Offset+1 : in.End] {
		n |= int32(b&digits) << shift
		shift += 7
	}
	if shift < 32 && code[in.End-1]&sign != 0 {
		n |= -1 << shift
	}
	return n, true
}
