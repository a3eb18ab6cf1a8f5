package fuel_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// TestRandomPrograms compares random guests before and after Rewrite, with large and small amounts
// of fuel.
func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newProgram(t)
		wasm := g.bytes()
		m, err := binary.Parse(wasm, binary.Limits{})
		if err != nil {
			t.Fatalf("Parse: %v", err)
		}
		rewritten, err := fuel.Rewrite(m, fuel.Options{})
		if err != nil {
			t.Fatalf("Rewrite: %v", err)
		}
		a, b := rapid.Uint32().Draw(t, "a"), rapid.Uint32().Draw(t, "b")
		grant := rapid.SampledFrom([]int64{20, 33, 1000, fuel.Slice}).Draw(t, "grant")
		want, wantMemory := execute(t, wasm, 0, a, b)
		got, gotMemory := execute(t, rewritten, grant, a, b)
		if got != want || !bytes.Equal(gotMemory, wantMemory) {
			t.Errorf("rewritten run(%d, %d) = %s; want %s; memory equal: %v", a, b, got, want, bytes.Equal(gotMemory, wantMemory))
		}
	})
}

// execute runs the first function of a guest.
func execute(t *rapid.T, wasm []byte, grant int64, a, b uint32) (result string, memory []byte) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err := r.NewHostModuleBuilder("toolrun:fuel").NewFunctionBuilder().
		WithFunc(func(int64) int64 { return grant }).Export("yield").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatalf("Instantiate: %v", err)
	}
	result = invoke(m, "f0", []uint64{uint64(a), uint64(b)})
	memory, _ = m.Memory().Read(0, m.Memory().Size())
	return result, bytes.Clone(memory)
}

// program generates a guest that terminates. Every function has two parameters, one result, four
// additional locals for data, and one counter for each of its loops. Each loop runs a few
// iterations. Address 0 contains the number of function entries; no other code writes to it.
type program struct {
	guest
	t         *rapid.T
	functions int
	typ       int
	loopType  int
	size      int
}

const (
	workLocals   = 6 // two parameters and four other locals
	loopDepth    = 3
	firstCounter = workLocals
	entries      = 60
)

func newProgram(t *rapid.T) *program {
	p := &program{t: t, functions: rapid.IntRange(1, 4).Draw(t, "functions")}
	two := []binary.ValueType{binary.I32, binary.I32}
	p.typ = p.guest.typ(two, i32)
	p.loopType = p.guest.typ(i32, i32)
	p.data = "some bytes to copy from a passive segment"
	locals := make([]binary.ValueType, workLocals-2+loopDepth)
	for i := range locals {
		locals[i] = binary.I32
	}
	for i := range p.functions {
		p.size = 40
		code := cat(p.entry(i == 0), p.block(0), p.value(3))
		p.add("f"+string(rune('0'+i)), two, i32, locals, code)
	}
	return p
}

// entry returns code that counts an entry and returns from the function if no entries are left. The
// host enters the first function before any entry is counted.
func (p *program) entry(first bool) []byte {
	guard := cat(num(0), load(), num(entries), op(i32LtU), op(i32Eqz), ifThen(get(0), op(0x0f)),
		num(0), num(0), load(), num(1), op(i32Add), store())
	if first && p.chance("grows", 3) {
		return cat(guard, num(p.pick("pages", 4)), grow(), set(2))
	}
	return guard
}

func (p *program) pick(what string, n int) int     { return rapid.IntRange(0, n-1).Draw(p.t, what) }
func (p *program) chance(what string, in int) bool { return p.pick(what, in) == 0 }
func (p *program) local() int                      { return p.pick("local", workLocals) }

// value generates an expression.
func (p *program) value(depth int) []byte {
	if depth == 0 || p.chance("simple", 3) {
		if p.chance("constant", 3) {
			return num(rapid.IntRange(-3, 70_000).Draw(p.t, "number"))
		}
		return get(p.local())
	}
	ops := []byte{i32Add, i32Sub, i32Mul, i32DivU, i32Xor, i32Rotl, i32LtU}
	x := p.value(depth - 1)
	switch p.pick("expression", 4) {
	case 0:
		return cat(x, op(i32Eqz))
	case 1:
		return cat(p.address(x), load())
	}
	return cat(x, p.value(depth-1), op(ops[p.pick("operator", len(ops))]))
}

// address converts a number to an address that is at least 16 and at most slightly beyond the end
// of the memory.
func (p *program) address(x []byte) []byte { return cat(x, num(0xffff), op(0x71), num(16), op(0x72)) }

func (p *program) block(loops int) (out []byte) {
	for range 1 + p.pick("statements", 5) {
		out = append(out, p.statement(loops)...)
	}
	return out
}

func (p *program) statement(loops int) []byte {
	if p.size--; p.size < 0 {
		return cat(p.value(1), set(p.local()))
	}
	switch kind := p.pick("statement", 16); kind {
	case 0, 1, 2:
		return cat(p.value(3), set(p.local()))
	case 3:
		return cat(p.address(p.value(2)), p.value(2), store())
	case 4:
		return cat(p.value(2), ifThen(p.block(loops)))
	case 5, 6, 7:
		if loops < loopDepth {
			counter := firstCounter + loops
			return cat(num(1+p.pick("turns", 5)), set(counter), countdown(counter, p.block(loops+1)))
		}
		return cat(p.value(2), tee(p.local()), op(0x1a))
	case 8:
		return block(p.block(loops), p.value(2), brIf(0), p.block(loops))
	case 9:
		return block(block(block(p.value(2), brTable(0, 1, 2, 1)), p.block(loops)), p.block(loops))
	case 10:
		return cat(p.value(2), p.value(2), call(p.pick("function", p.functions)), set(p.local()))
	case 11:
		return cat(p.value(2), p.value(2), p.value(1), num(3), op(0x71), callIndirect(p.typ), set(p.local()))
	case 12:
		return p.loopWithParameter(loops)
	case 13:
		return p.bulk()
	case 14:
		return cat(p.value(1), grow(), set(p.local()))
	default:
		return cat(p.value(2), num(1), op(0x71), op(i32Eqz), p.value(2), op(i32Eqz), op(0x71), ifThen(p.value(1), op(0x0f)))
	}
}

// loopWithParameter passes a number to each iteration on the stack.
func (p *program) loopWithParameter(loops int) []byte {
	if loops == loopDepth {
		return p.bulk()
	}
	counter := firstCounter + loops
	return cat(num(1+p.pick("turns", 4)), set(counter),
		p.value(1), []byte{0x03}, uleb(p.loopType), p.value(1), op(i32Add),
		get(counter), num(1), op(i32Sub), tee(counter), brIf(0), op(endOp), set(p.local()))
}

// bulk generates a bulk memory instruction.
func (p *program) bulk() []byte {
	length := cat(p.value(1), num(0x3ff), op(0x71))
	switch p.pick("bulk", 3) {
	case 0:
		return cat(p.address(p.value(1)), p.value(1), length, fill())
	case 1:
		return cat(p.address(p.value(1)), p.value(1), num(0xffff), op(0x71), length, copyMemory())
	}
	return cat(p.address(p.value(1)), num(p.pick("from", 20)), num(p.pick("length", 30)), []byte{0xfc, 0x08, 0, 0})
}
