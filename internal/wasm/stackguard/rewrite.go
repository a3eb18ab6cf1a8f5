package stackguard

import (
	"errors"
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// ErrNoStack is the error for a module whose stack pointer cannot be identified.
var ErrNoStack = errors.New("the module must have exactly one mutable global of type i32, its stack pointer")

// Rewrite searches for these opcodes, or adds them.
const (
	unreachable = 0x00
	ifOp        = 0x04
	endOp       = 0x0b
	localGet    = 0x20
	localTee    = 0x22
	globalGet   = 0x23
	i32Const    = 0x41
	i32LtU      = 0x49
	noType      = 0x40
)

// Rewrite returns the module with stack checks. The stack pointer must be the only mutable global
// of type i32. Rewrite adds the limit as the last global of the module. The checks compare the
// stack pointer with the limit as unsigned numbers. If the stack pointer cannot be identified, the
// error is ErrNoStack. Rewrite is safe for concurrent use.
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
			sections[i].Data = g.code(m)
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
	if found < m.ImportedGlobals() { // the stack pointer was not found, or is imported
		return 0, ErrNoStack
	}
	return uint32(found), nil
}

// withLimit appends the limit, a mutable i32 with the value 0, to a global section.
func withLimit(section []byte) ([]byte, error) {
	const mutable = 1
	count, old, err := binary.Vector(section)
	if err != nil {
		return nil, err
	}
	return binary.AppendVector(nil, count+1, old, []byte{byte(binary.I32), mutable, i32Const, 0, endOp}), nil
}

// guard contains the indexes of the stack pointer and of its limit.
type guard struct{ pointer, limit uint32 }

// code returns the code section. In functions that the plan marks, code adds a check after each
// instruction that may move the stack pointer down.
func (g guard) code(m *binary.Module) []byte {
	size := 0
	for _, f := range m.Functions {
		size += len(f.Body) + len(f.Body)/8 + 16
	}
	out := binary.AppendUint32(make([]byte, 0, size), uint32(len(m.Functions)))
	plan := planOf(m, g.pointer)
	var body []byte
	for i, f := range m.Functions {
		body = append(body[:0], f.Body...)
		if plan.functions[i].checked {
			body = g.append(body[:0], f)
		}
		out = append(binary.AppendUint32(out, uint32(len(body))), body...)
	}
	return out
}

func (g guard) append(out []byte, f binary.Function) []byte {
	out = append(out, f.Body[:len(f.Body)-len(f.Code)]...)
	copied := 0
	for move := range moves(f.Code, g.pointer) {
		out = g.appendCheck(append(out, f.Code[copied:move.end]...), move.last)
		copied = move.end
	}
	return append(out, f.Code[copied:]...)
}

// appendCheck appends code that traps if the stack pointer is below the limit. The stack pointer
// keeps its value, so the host can recognize the overflow. If the previous instruction also stored
// the pointer in a local, the check reads the local, because that is faster.
func (g guard) appendCheck(out []byte, last binary.Instruction) []byte {
	if last.Op == localTee {
		out = binary.AppendUint32(append(out, localGet), last.Index)
	} else {
		out = binary.AppendUint32(append(out, globalGet), g.pointer)
	}
	out = binary.AppendUint32(append(out, globalGet), g.limit)
	return append(out, i32LtU, ifOp, noType, unreachable, endOp)
}
