package stackguard

import (
	"iter"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// The following opcodes occur in code that moves the stack pointer.
const (
	globalSet = 0x24
	i32Add    = 0x6a
	i32Sub    = 0x6b
)

// move is an instruction that may move the stack pointer down.
type move struct {
	end  int                // the end of the instruction in the code
	last binary.Instruction // the previous instruction
	// The field "by" is the distance in bytes. The distance is valid only if known is true.
	by    int
	known bool
	// looped reports whether the instruction is in a loop, where it may move the pointer
	// repeatedly.
	looped bool
}

// moves returns the instructions in code that may move the stack pointer down. moves omits
// additions of a non-negative constant, which occur at the end of a function, because such
// additions move the pointer up.
func moves(code []byte, pointer uint32) iter.Seq[move] {
	return func(yield func(move) bool) {
		var blocks []bool                   // an element is true if the open block is a loop
		loops := 0                          // number of open loops
		var before, last binary.Instruction // the two instructions before the instruction "in"
		var constant binary.Instruction     // the instruction before the instructions "before" and "last"
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

// frees reports whether two instructions add a non-negative constant to the stack pointer. The
// addition of a non-negative constant does not move the stack pointer down.
func frees(code []byte, constant, add binary.Instruction) bool {
	n, ok := constantOf(code, constant)
	return ok && add.Op == i32Add && n >= 0
}

// taken returns the constant that three instructions subtract from the stack pointer. If the
// instructions do not subtract a constant, ok is false. The third instruction may store the result
// in a local.
func taken(code []byte, first, second, third binary.Instruction) (n int, ok bool) {
	if third.Op != localTee {
		first, second = second, third
	}
	by, ok := constantOf(code, first)
	return int(by), ok && second.Op == i32Sub && by >= 0
}

// constantOf returns the value of an i32.const instruction.
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
