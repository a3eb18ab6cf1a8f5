package wasmtest

import (
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// The following constants are opcodes, and the type of blocks without a result.
const (
	Unreachable = 0x00
	Loop        = 0x03
	If          = 0x04
	End         = 0x0b
	Br          = 0x0c
	Drop        = 0x1a
	I32Load8U   = 0x2d
	I32Store    = 0x36
	MemoryGrow  = 0x40
	I32Ne       = 0x47
	I32LtS      = 0x48
	I32Add      = 0x6a
	I32DivS     = 0x6d
	Empty       = 0x40
)

// Const returns the code of an i32.const instruction.
func Const(n int32) []byte {
	const opcode = 0x41
	return binary.AppendInt64([]byte{opcode}, int64(n))
}

// Call returns the code of a function call with constant arguments.
func Call(function uint32, args ...int32) (code []byte) {
	const opcode = 0x10
	for _, arg := range args {
		code = append(code, Const(arg)...)
	}
	return binary.AppendUint32(append(code, opcode), function)
}

// Trap returns code that traps if the two numbers that the given code leaves on the stack differ.
func Trap(code ...[]byte) []byte {
	return append(slices.Concat(code...), I32Ne, If, Empty, Unreachable, End)
}
