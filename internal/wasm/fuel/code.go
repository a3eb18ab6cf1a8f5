package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// Rewrite adds instructions with the following opcodes.
const (
	ifOp      = 0x04
	elseOp    = 0x05
	endOp     = 0x0b
	brOp      = 0x0c
	callOp    = 0x10
	localGet  = 0x20
	localSet  = 0x21
	localTee  = 0x22
	globalGet = 0x23
	globalSet = 0x24
	i64Const  = 0x42
	i64GeS    = 0x59
	i64Sub    = 0x7d
	i64ShrU   = 0x88
	i64FromU  = 0xad // i64.extend_i32_u
	noType    = 0x40
	i32Type   = byte(binary.I32)
	i64Type   = byte(binary.I64)
)

var (
	// types contains the types of the functions "yield" and "charge", which are (i64) -> (i64) and
	// (i32) -> (i32).
	types = []byte{0x60, 1, i64Type, 1, i64Type, 0x60, 1, i32Type, 1, i32Type}
	// fuelGlobal is a mutable i64 that is initially 0, so the first charge requests fuel.
	fuelGlobal = []byte{i64Type, 1, i64Const, 0, endOp}
)

// code returns the code section with charges in all functions. The function "charge" is added after
// all other functions.
func (r *rewriter) code() []byte {
	size := 0
	for _, f := range r.m.Functions {
		size += len(f.Body) + len(f.Body)/4 + 32
	}
	out := binary.AppendUint32(make([]byte, 0, size), uint32(len(r.m.Functions))+1)
	var body []byte
	for _, f := range r.m.Functions {
		body = r.body(body[:0], f)
		out = append(binary.AppendUint32(out, uint32(len(body))), body...)
	}
	body = r.chargeFunction()
	return append(binary.AppendUint32(out, uint32(len(body))), body...)
}

// body appends the body of a function with its charges.
func (r *rewriter) body(out []byte, f binary.Function) []byte {
	all := r.regionsOf(f.Code)
	out = appendLocals(out, f, all)
	if !all[0].paidByCaller() {
		out = r.spend(out, all[0].cost(), carryOn)
	}
	loops, copied := 0, 0
	for in := range binary.Instructions(f.Code) {
		switch in.Op {
		case binary.Loop:
			loops++
			out = append(out, f.Code[copied:in.Offset]...)
			out = r.loop(out, f, all, loops, f.Code[in.Offset:in.End])
			copied = in.End
		case binary.Call, binary.RefFunc:
			// The opcodes Call and RefFunc take one byte.
			out = binary.AppendUint32(append(out, f.Code[copied:in.Offset+1]...), r.shift(in.Index))
			copied = in.End
		case binary.MemoryFill, binary.MemoryCopy, binary.MemoryInit, binary.TableFill, binary.TableCopy, binary.TableInit:
			// The length is on top of the stack. The function "charge" takes the length and returns
			// it.
			out = binary.AppendUint32(append(append(out, f.Code[copied:in.Offset]...), callOp), r.charge)
			copied = in.Offset
		case binary.MemoryGrow, binary.TableGrow:
			// Growing memory or a table is as expensive as a yield, because the runtime may copy
			// all data and leaves the machine code.
			out = r.callYield(append(out, f.Code[copied:in.Offset]...))
			copied = in.Offset
		}
	}
	return append(out, f.Code[copied:]...)
}

// loop appends the loop instruction and the charge of an iteration.
func (r *rewriter) loop(out []byte, f binary.Function, all []region, i int, instruction []byte) []byte {
	s := all[i]
	switch {
	case s.params:
		return r.spend(append(out, instruction...), s.cost(), carryOn)
	case s.shared:
		return r.spend(append(out, instruction...), s.cost(), repeatIteration)
	}
	left := uint32(f.Locals)
	if s.parent == 0 || all[s.parent].shared {
		out = binary.AppendUint32(append(out, globalGet), r.fuel)
		out = binary.AppendUint32(append(out, localSet), left)
	}
	return r.spendLocal(append(out, instruction...), left, s.cost())
}

// appendLocals appends the declarations of locals. appendLocals adds a local if a loop keeps the
// fuel in a local.
func appendLocals(out []byte, f binary.Function, all []region) []byte {
	old := f.Body[:len(f.Body)-len(f.Code)]
	for _, s := range all[1:] {
		if !s.shared {
			n, size := binary.Uint32(old)
			return append(append(binary.AppendUint32(out, n+1), old[size:]...), 1, i64Type)
		}
	}
	return append(out, old...)
}

// One of the following sequences comes after each yield. With carryOn, wazero must restore
// registers after the call. With repeatIteration, wazero places the call after the loop, and the
// loop keeps its registers.
var (
	carryOn         []byte
	repeatIteration = []byte{brOp, 1}
)

// spend appends code that does: fuel = fuel - cost; if fuel >= 0 {} else { fuel = yield(fuel); then
// }.
func (r *rewriter) spend(out []byte, cost int64, then []byte) []byte {
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = binary.AppendInt64(append(out, i64Const), cost)
	return r.subtract(out, then)
}

// subtract appends the second part of the code of spend. The fuel and the cost must be on the
// stack.
//
// The call to yield must be in the else branch. Where two branches join, wazero keeps the register
// assignment of the first branch, and the second branch must restore the registers.
func (r *rewriter) subtract(out, then []byte) []byte {
	out = binary.AppendUint32(append(out, i64Sub, globalSet), r.fuel)
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = append(out, i64Const, 0, i64GeS, ifOp, noType, elseOp)
	return append(append(r.callYield(out), then...), endOp)
}

// spendLocal appends the start of a loop that keeps the fuel in a local: left = left - cost; fuel =
// left; if left >= 0 {} else { left = yield(left); repeat the iteration }.
//
// The code writes the global fuel in each iteration, so the global is correct when the loop ends.
// The code does not read the global fuel, because store-to-load forwarding takes longer than an
// iteration of a short loop.
func (r *rewriter) spendLocal(out []byte, left uint32, cost int64) []byte {
	out = binary.AppendUint32(append(out, localGet), left)
	out = binary.AppendInt64(append(out, i64Const), cost)
	out = binary.AppendUint32(append(out, i64Sub, localTee), left)
	out = binary.AppendUint32(append(out, globalSet), r.fuel)
	out = binary.AppendUint32(append(out, localGet), left)
	out = append(out, i64Const, 0, i64GeS, ifOp, noType, elseOp)
	out = binary.AppendUint32(append(out, localGet), left)
	out = binary.AppendUint32(append(out, callOp), r.yield)
	out = binary.AppendUint32(append(out, localSet), left)
	return append(append(out, repeatIteration...), endOp)
}

// callYield appends code that does: fuel = yield(fuel).
func (r *rewriter) callYield(out []byte) []byte {
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = binary.AppendUint32(append(out, callOp), r.yield)
	return binary.AppendUint32(append(out, globalSet), r.fuel)
}

// chargeFunction returns the body of the function "charge". The function charge spends fuel for a
// number of bytes or table elements, and returns that number.
func (r *rewriter) chargeFunction() []byte {
	out := []byte{0} // without locals
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = append(out, localGet, 0, i64FromU, i64Const, unitShift, i64ShrU)
	return append(r.subtract(out, carryOn), localGet, 0, endOp)
}
