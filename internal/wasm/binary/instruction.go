package binary

import (
	"iter"
	"math"
)

// Instruction is an instruction of a function.
type Instruction struct {
	Op Op
	// Offset and End are the start and the end of the instruction, in bytes from the start of the
	// code.
	Offset, End int
	// Index is the index after the opcode, if the opcode has one. The opcode determines whether
	// Index refers to a function, a local or a label, for example. For a block, Index is the index
	// of the block's type, or NoType. Second is the second index of an instruction that has two
	// indexes.
	Index, Second uint32
	// Count is the number of targets of a br_table, without the default target.
	Count int

	imm immediate
	// result is the result type of a block whose type is not an index. result is 0 if the block has
	// no result.
	result ValueType
	// immediates is the offset of the data after the opcode.
	immediates int
}

// NoType is the Index of a block, loop or if whose type is not an entry of Module.Types. A block
// with NoType has no parameters and at most one result.
const NoType = math.MaxUint32

// Instructions yields the instructions of a function that Parse accepted.
func Instructions(code []byte) iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		r := instructionReader{&reader{wasm: code, end: len(code)}}
		for r.at < r.end && r.err == nil {
			if in := r.next(math.MaxInt32); r.err == nil && !yield(in) {
				return
			}
		}
	}
}

// instructionReader reads the instructions of a function.
type instructionReader struct{ *reader }

// next reads an instruction with its immediates. After a prefix, next accepts only the shortest
// encoding of an opcode. Some readers take a single byte for the opcode and would interpret a
// longer encoding as a different instruction.
func (r *instructionReader) next(targets int) Instruction {
	in := Instruction{Offset: r.at}
	op := r.byte()
	in.Op, in.imm = Op(op), plain[op]
	switch op {
	case opMisc:
		in.Op, in.imm = r.miscOp()
	case opVector:
		in.Op, in.imm = r.vectorOp()
	}
	if r.err == nil && in.imm == unknown {
		r.rejectOp(in.Offset, in.Op)
		return in
	}
	in.immediates = r.at
	r.readImmediates(&in, targets)
	in.End = r.at
	return in
}

// miscOp reads the opcode after the prefix 0xfc, which bulk memory instructions have. The opcode
// after the prefix 0xfc has one byte.
func (r *instructionReader) miscOp() (Op, immediate) {
	start := r.at - 1
	sub := r.byte()
	if sub >= 0x80 {
		r.reject(UnknownOpcode, start, "an instruction has an unknown or overlong opcode")
	}
	return opMisc<<8 | Op(sub), misc[sub]
}

// vectorOp reads the opcode after the vector prefix. An opcode from 0x80 to 0xff takes two bytes,
// and a smaller opcode takes one.
func (r *instructionReader) vectorOp() (Op, immediate) {
	start := r.at - 1
	sub := r.byte()
	if sub >= 0x80 {
		switch high := r.byte(); {
		case high == 2 && r.err == nil:
			r.reject(UnknownOpcode, start, "relaxed SIMD is not supported; build without -mrelaxed-simd")
		case high != 1:
			r.reject(UnknownOpcode, start, "a vector instruction has an unknown or overlong opcode")
		}
	}
	return opVector<<8 | Op(sub), vector[sub]
}

func (r *instructionReader) rejectOp(offset int, op Op) {
	if from := proposal(op); from != "" {
		r.reject(UnknownOpcode, offset, "instruction %#02x belongs to the unsupported proposal for %s", uint16(op), from)
		return
	}
	r.reject(UnknownOpcode, offset, "unknown instruction %#02x", uint16(op))
}

func (r *instructionReader) readImmediates(in *Instruction, targets int) {
	switch in.imm {
	case none:
	case blockType:
		r.blockType(in)
	case labelIndex, funcIndex, localIndex, globalIndex, tableIndex, dataIndex, elemIndex:
		in.Index = r.u32()
	case typeTable, elemTable, twoTables:
		in.Index, in.Second = r.u32(), r.u32()
	case labelTable:
		in.Count = r.count("targets of a br_table", targets)
		for range in.Count + 1 {
			r.u32()
		}
	case memArg:
		r.memArg()
	case memory:
		r.memoryZero()
	case dataMemory:
		in.Index = r.u32()
		r.memoryZero()
	case twoMemories:
		r.memoryZero()
		r.memoryZero()
	case i32:
		r.signed(32)
	case i64:
		r.signed(64)
	case f32:
		r.bytes(4)
	case f64:
		r.bytes(8)
	case heapType:
		r.refType()
	case selectType:
		r.selectType()
	case v128, lanes:
		r.bytes(16)
	case lane:
		r.byte()
	case memArgLane:
		r.memArg()
		r.byte()
	}
}

func (r *instructionReader) blockType(in *Instruction) {
	start := r.at
	in.Index = NoType
	switch t := ValueType(r.byte()); {
	case t == 0x40 || r.err != nil:
		return
	case t >= 0x41 && t < 0x80:
		// If the first byte encodes a negative number, the number is a value type.
		r.at = start
		in.result = r.valueType()
		return
	}
	r.at = start
	index := r.signed(33)
	if index < 0 && r.err == nil {
		r.reject(Malformed, start, "a block type is an overlong negative number")
		return
	}
	in.Index = uint32(index)
}

func (r *instructionReader) memArg() {
	start := r.at
	if align := r.u32(); align >= 32 {
		r.reject(Malformed, start, "a memory access has alignment 2**%d, which exceeds the size of the access", align)
	}
	r.u32()
}

func (r *instructionReader) memoryZero() {
	start := r.at
	if m := r.byte(); m != 0 {
		r.reject(MultiMemory, start, "an instruction refers to memory %d; only one memory is supported", m)
	}
}

func (r *instructionReader) selectType() {
	start := r.at
	if n := r.byte(); n != 1 {
		r.reject(Malformed, start, "a select has %d types; want one", n)
	}
	r.valueType()
}
