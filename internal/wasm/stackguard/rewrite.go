package stackguard

import (
	"errors"
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// Slack is how far below the limit a function may write that is not checked, in bytes. The limit is to be so much above
// the lowest address of the stack.
const Slack = maxLeaf + redZone

const (
	// maxLeaf is up to how many bytes a function that calls nothing may take without a check: nothing is below it.
	maxLeaf = 4 << 10
	// redZone is how far below the stack pointer compilers let such a function write without moving it.
	redZone = 128
)

// ErrNoStack is the error for a module in which the stack pointer cannot be recognised.
var ErrNoStack = errors.New("the module has no single mutable global of type i32 that could be its stack pointer")

// The instructions that are looked for and added.
const (
	unreachable = 0x00
	ifOp        = 0x04
	endOp       = 0x0b
	localGet    = 0x20
	localTee    = 0x22
	globalGet   = 0x23
	globalSet   = 0x24
	i32Const    = 0x41
	i32LtU      = 0x49
	i32Add      = 0x6a
	i32Sub      = 0x6b
	noType      = 0x40
)

// Rewrite returns the module with its stack guarded. The stack pointer is the one mutable global of type i32; the
// limit is the next of that type and kind, and the last global of the module. Both are compared as unsigned numbers.
// An error is ErrNoStack. Rewrite is safe for concurrent use.
func Rewrite(m *binary.Module) ([]byte, error) {
	pointer, err := pointerOf(m)
	if err != nil {
		return nil, err
	}
	g := guard{pointer: pointer, limit: uint32(len(m.GlobalTypes))}
	sections := slices.Clone(m.Sections)
	for i, s := range sections {
		switch s.ID {
		case binary.GlobalSection:
			sections[i].Data, err = withLimit(s.Data)
		case binary.CodeSection:
			sections[i].Data = g.code(m.Functions)
		}
	}
	return binary.Join(sections), err
}

// pointerOf returns the index of the stack pointer.
func pointerOf(m *binary.Module) (uint32, error) {
	found := -1
	for i, g := range m.GlobalTypes {
		if !g.Mutable || g.Type != binary.I32 {
			continue
		}
		if found >= 0 {
			return 0, ErrNoStack
		}
		found = i
	}
	if found < m.ImportedGlobals() { // none, or one that the host shares
		return 0, ErrNoStack
	}
	return uint32(found), nil
}

// withLimit returns a global section with a mutable i32 of value 0 at its end.
func withLimit(section []byte) ([]byte, error) {
	const mutable = 1
	count, old, err := binary.Vector(section)
	if err != nil {
		return nil, err
	}
	return binary.AppendVector(nil, count+1, old, []byte{byte(binary.I32), mutable, i32Const, 0, endOp}), nil
}

// guard are the indexes of the two globals.
type guard struct{ pointer, limit uint32 }

// code returns the code section of the functions, with a check after each instruction that may move the stack pointer
// down, but for those of functions that take little and call nothing.
func (g guard) code(functions []binary.Function) []byte {
	size := 0
	for _, f := range functions {
		size += len(f.Body) + len(f.Body)/8 + 16
	}
	out := binary.AppendUint32(make([]byte, 0, size), uint32(len(functions)))
	var body []byte
	for _, f := range functions {
		body = g.append(body[:0], f)
		out = append(binary.AppendUint32(out, uint32(len(body))), body...)
	}
	return out
}

func (g guard) append(out []byte, f binary.Function) []byte {
	out = append(out, f.Body[:len(f.Body)-len(f.Code)]...)
	copied, leaf := 0, isLeaf(f.Code)
	var before, last binary.Instruction // the two before in
	var constant binary.Instruction     // the one before them
	for in := range binary.Instructions(f.Code) {
		if in.Op == globalSet && in.Index == g.pointer && !frees(f.Code, before, last) && !(leaf && takesLittle(f.Code, constant, before, last)) {
			out = g.appendCheck(append(out, f.Code[copied:in.End]...), last)
			copied = in.End
		}
		constant, before, last = before, last, in
	}
	return append(out, f.Code[copied:]...)
}

// appendCheck appends what traps if the stack pointer is below the limit. The pointer keeps its value, by which a host can
// recognise the overflow. If the instruction before has left it in a local, it is taken from there, which is faster.
func (g guard) appendCheck(out []byte, last binary.Instruction) []byte {
	if last.Op == localTee {
		out = binary.AppendUint32(append(out, localGet), last.Index)
	} else {
		out = binary.AppendUint32(append(out, globalGet), g.pointer)
	}
	out = binary.AppendUint32(append(out, globalGet), g.limit)
	return append(out, i32LtU, ifOp, noType, unreachable, endOp)
}

// isLeaf reports whether code calls nothing.
func isLeaf(code []byte) bool {
	for in := range binary.Instructions(code) {
		if in.Op == binary.Call || in.Op == binary.CallIndirect {
			return false
		}
	}
	return true
}

// frees reports whether two instructions compute a stack pointer that is not below the one that they take: they add a
// constant that is not negative, as the end of a function does.
func frees(code []byte, constant, add binary.Instruction) bool {
	n, ok := constantOf(code, constant)
	return ok && add.Op == i32Add && n >= 0
}

// takesLittle reports whether instructions compute a stack pointer that is hardly below the one that they take: they
// subtract a small constant, and may keep the result in a local.
func takesLittle(code []byte, first, second, third binary.Instruction) bool {
	if third.Op != localTee {
		first, second, third = second, third, first
	}
	n, ok := constantOf(code, first)
	return ok && second.Op == i32Sub && n >= 0 && n <= maxLeaf
}

// constantOf returns the number of an i32.const.
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
