package binary

import (
	"iter"
	"math"
)

// Instruction is one instruction of a function.
type Instruction struct {
	Op Op
	// Offset and End are where it begins and ends in the code it was read from, in bytes.
	Offset, End int
	// Index is the index that follows the opcode, where one does: of a function, type, local, segment, label and
	// so on, by the opcode; Second is the other one of instructions with two. For a block it is the index of its
	// type, or NoType.
	Index, Second uint32
	// Count is the number of targets of a br_table, the default one left out.
	Count int

	imm immediate
	// result is the type of a block that is no index, 0 for none.
	result ValueType
	// after is where what follows the opcode begins.
	after int
}

// NoType is the Index of a block, loop or if whose type is none of the module's: it takes no parameters and
// returns at most one value.
const NoType = math.MaxUint32

// Instructions yields the instructions of a function that Parse accepted.
func Instructions(code []byte) iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		r := &reader{wasm: code, end: len(code)}
		for r.at < r.end && r.err == nil {
			if in := r.instruction(math.MaxInt32); r.err == nil && !yield(in) {
				return
			}
		}
	}
}

// instruction reads one instruction and what follows its opcode, in the one encoding that all readers take for
// the same: some read the opcode behind a prefix as a single byte, and would see others in a longer number.
func (r *reader) instruction(targets int) Instruction {
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
		r.refuseOp(in.Offset, in.Op)
		return in
	}
	in.after = r.at
	r.immediates(&in, targets)
	in.End = r.at
	return in
}

// miscOp reads the opcode behind the prefix of bulk memory and others: one byte.
func (r *reader) miscOp() (Op, immediate) {
	start := r.at - 1
	sub := r.byte()
	if sub >= 0x80 {
		r.refuse(UnknownOpcode, start, "an instruction whose opcode is unknown, or longer than it must be")
	}
	return opMisc<<8 | Op(sub), misc[sub]
}

// vectorOp reads the opcode behind the vector prefix: one byte, or two where it is 0x80 to 0xff.
func (r *reader) vectorOp() (Op, immediate) {
	start := r.at - 1
	sub := r.byte()
	if sub >= 0x80 {
		switch high := r.byte(); {
		case high == 2 && r.err == nil:
			r.refuse(UnknownOpcode, start, "a relaxed vector instruction; build without -mrelaxed-simd")
		case high != 1:
			r.refuse(UnknownOpcode, start, "a vector instruction whose opcode is unknown, or longer than it must be")
		}
	}
	return opVector<<8 | Op(sub), vector[sub]
}

func (r *reader) refuseOp(offset int, op Op) {
	if from := proposal(op); from != "" {
		r.refuse(UnknownOpcode, offset, "instruction %#02x is of the proposal for %s", uint16(op), from)
		return
	}
	r.refuse(UnknownOpcode, offset, "unknown instruction %#02x", uint16(op))
}

func (r *reader) immediates(in *Instruction, targets int) {
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

func (r *reader) blockType(in *Instruction) {
	start := r.at
	in.Index = NoType
	switch t := ValueType(r.byte()); {
	case t == 0x40 || r.err != nil:
		return
	case t >= 0x41 && t < 0x80:
		// A negative number of one byte: a value type.
		r.at = start
		in.result = r.valueType()
		return
	}
	r.at = start
	index := r.signed(33)
	if index < 0 && r.err == nil {
		r.refuse(Malformed, start, "a block type that is a negative number of more than one byte")
		return
	}
	in.Index = uint32(index)
}

func (r *reader) memArg() {
	start := r.at
	if align := r.u32(); align >= 32 {
		r.refuse(Malformed, start, "alignment 2**%d of a memory access; it may be the size of the access at most", align)
	}
	r.u32()
}

func (r *reader) memoryZero() {
	start := r.at
	if m := r.byte(); m != 0 {
		r.refuse(MultiMemory, start, "an instruction for memory %d; one memory is supported", m)
	}
}

func (r *reader) selectType() {
	start := r.at
	if n := r.byte(); n != 1 {
		r.refuse(Malformed, start, "a select with %d types; there must be one", n)
	}
	r.valueType()
}
