package binary

// Op is the opcode of an instruction. The high byte contains the prefix, as in 0xfc0a for
// memory.copy.
type Op uint16

// Code that rewrites modules uses the following opcodes.
const (
	Block        Op = 0x02
	Loop         Op = 0x03
	If           Op = 0x04
	Else         Op = 0x05
	End          Op = 0x0b
	Br           Op = 0x0c
	BrIf         Op = 0x0d
	BrTable      Op = 0x0e
	Return       Op = 0x0f
	Call         Op = 0x10
	CallIndirect Op = 0x11
	I32Const     Op = 0x41
	I64Const     Op = 0x42
	MemoryGrow   Op = 0x40
	RefFunc      Op = 0xd2
	MemoryInit   Op = 0xfc08
	MemoryCopy   Op = 0xfc0a
	MemoryFill   Op = 0xfc0b
	TableInit    Op = 0xfc0c
	TableCopy    Op = 0xfc0e
	TableGrow    Op = 0xfc0f
	TableFill    Op = 0xfc11
)

// These are the opcodes that occur in constant expressions. Some of them are prefixes of other
// opcodes. Only one vector instruction is a constant.
const (
	opEnd       = 0x0b
	opGlobalGet = 0x23
	opI32Const  = 0x41
	opI64Const  = 0x42
	opI32Add    = 0x6a
	opI32Sub    = 0x6b
	opI32Mul    = 0x6c
	opI64Add    = 0x7c
	opI64Sub    = 0x7d
	opI64Mul    = 0x7e
	opF32Const  = 0x43
	opF64Const  = 0x44
	opRefNull   = 0xd0
	opRefFunc   = 0xd2
	opMisc      = 0xfc
	opVector    = 0xfd
	vecConst    = 0x0c
)

// immediate is the kind of data after an opcode.
type immediate byte

const (
	unknown immediate = iota // WebAssembly 2.0 has no instruction with this opcode
	none
	blockType
	labelIndex
	labelTable
	funcIndex
	typeTable // a type index and a table index
	localIndex
	globalIndex
	tableIndex
	memArg
	memory // a memory index, which must be 0
	i32
	i64
	f32
	f64
	heapType
	selectType
	dataMemory // the index of a data segment and the index of a memory
	dataIndex
	twoMemories
	elemTable // the index of an element segment and the index of a table
	elemIndex
	twoTables
	v128
	lanes // the 16 lanes of a shuffle instruction
	lane
	memArgLane
)

// span is a range of opcodes with the same immediates.
type span struct {
	first, last byte
	imm         immediate
}

// The following tables contain the immediates of three groups of opcodes: without a prefix, with
// the prefix 0xfc, and with the vector prefix. The opcodes are listed in the core specification,
// section 5.4 and appendix A.7.
var (
	plain = table([]span{
		{0x00, 0x01, none}, {0x02, 0x04, blockType}, {0x05, 0x05, none}, {0x0b, 0x0b, none}, {0x0c, 0x0d, labelIndex},
		{0x0e, 0x0e, labelTable}, {0x0f, 0x0f, none}, {0x10, 0x10, funcIndex}, {0x11, 0x11, typeTable},
		{0x1a, 0x1b, none}, {0x1c, 0x1c, selectType}, {0x20, 0x22, localIndex}, {0x23, 0x24, globalIndex},
		{0x25, 0x26, tableIndex}, {0x28, 0x3e, memArg}, {0x3f, 0x40, memory}, {0x41, 0x41, i32}, {0x42, 0x42, i64},
		{0x43, 0x43, f32}, {0x44, 0x44, f64}, {0x45, 0xc4, none}, {0xd0, 0xd0, heapType}, {0xd1, 0xd1, none},
		{0xd2, 0xd2, funcIndex},
	})
	misc = table([]span{
		{0x00, 0x07, none}, {0x08, 0x08, dataMemory}, {0x09, 0x09, dataIndex}, {0x0a, 0x0a, twoMemories},
		{0x0b, 0x0b, memory}, {0x0c, 0x0c, elemTable}, {0x0d, 0x0d, elemIndex}, {0x0e, 0x0e, twoTables},
		{0x0f, 0x11, tableIndex},
	})
	vector = table([]span{
		{0x00, 0x0b, memArg}, {0x0c, 0x0c, v128}, {0x0d, 0x0d, lanes}, {0x0e, 0x14, none}, {0x15, 0x22, lane},
		{0x23, 0x53, none}, {0x54, 0x5b, memArgLane}, {0x5c, 0x5d, memArg}, {0x5e, 0x99, none}, {0x9b, 0xa1, none},
		{0xa3, 0xa4, none}, {0xa7, 0xae, none}, {0xb1, 0xb1, none}, {0xb5, 0xba, none}, {0xbc, 0xc1, none},
		{0xc3, 0xc4, none}, {0xc7, 0xce, none}, {0xd1, 0xd1, none}, {0xd5, 0xe1, none}, {0xe3, 0xff, none},
	})
)

func table(spans []span) (t [256]immediate) {
	for _, s := range spans {
		for op := int(s.first); op <= int(s.last); op++ {
			t[op] = s.imm
		}
	}
	return t
}

// proposal returns the name of the proposal that defines an opcode, with a hint for the user.
// proposal returns "" for unknown opcodes.
func proposal(op Op) string {
	switch {
	case op >= 0x06 && op <= 0x0a || op == 0x18 || op == 0x19 || op == 0x1f:
		return "exception handling; build without -fwasm-exceptions"
	case op == 0x12 || op == 0x13:
		return "tail calls; build without -mtail-call"
	case op == 0x14 || op == 0x15 || op >= 0xd3 && op <= 0xd6:
		return "typed function references; build for WebAssembly 2.0"
	case op>>8 == 0xfb || op == 0xfb:
		return "garbage collection; build for WebAssembly 2.0"
	case op == 0xfe:
		return "threads; build without -pthread and -matomics"
	case op>>8 == opMisc && op&0xff >= 0x13 && op&0xff <= 0x16:
		return "wide arithmetic; build for WebAssembly 2.0"
	}
	return ""
}
