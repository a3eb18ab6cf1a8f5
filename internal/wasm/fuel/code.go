package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// The instructions that are added.
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
	// types are those of yield, (i64) -> (i64), and of charge, (i32) -> (i32).
	types = []byte{0x60, 1, i64Type, 1, i64Type, 0x60, 1, i32Type, 1, i32Type}
	// fuelGlobal is a mutable i64 of value 0: the first charge asks for fuel.
	fuelGlobal = []byte{i64Type, 1, i64Const, 0, endOp}
)

// code returns the code section with every function charged, and the function charge at its end.
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
	body = r.chargeBody()
	return append(binary.AppendUint32(out, uint32(len(body))), body...)
}

// body appends the code of one function, charged.
func (r *rewriter) body(out []byte, f binary.Function) []byte {
	all := r.weigh(f.Code)
	out = appendLocals(out, f, all)
	if !all[0].free() {
		out = r.spend(out, all[0].weight(), goOn)
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
			// The opcode of both is one byte.
			out = binary.AppendUint32(append(out, f.Code[copied:in.Offset+1]...), r.shift(in.Index))
			copied = in.End
		case binary.MemoryFill, binary.MemoryCopy, binary.MemoryInit, binary.TableFill, binary.TableCopy, binary.TableInit:
			// The length is on top of the stack; charge returns what it is given.
			out = binary.AppendUint32(append(append(out, f.Code[copied:in.Offset]...), callOp), r.charge)
			copied = in.Offset
		case binary.MemoryGrow, binary.TableGrow:
			// Growing may move all there is, and leaves the machine code as a yield does.
			out = r.callYield(append(out, f.Code[copied:in.Offset]...))
			copied = in.Offset
		}
	}
	return append(out, f.Code[copied:]...)
}

// loop appends the instruction that begins a loop, and what each of its turns costs.
func (r *rewriter) loop(out []byte, f binary.Function, all []stretch, i int, instruction []byte) []byte {
	s := all[i]
	switch {
	case s.params:
		return r.spend(append(out, instruction...), s.weight(), goOn)
	case s.shared:
		return r.spend(append(out, instruction...), s.weight(), turnAnew)
	}
	left := uint32(f.Locals)
	if s.parent == 0 || all[s.parent].shared {
		out = binary.AppendUint32(append(out, globalGet), r.fuel)
		out = binary.AppendUint32(append(out, localSet), left)
	}
	return r.spendLocal(append(out, instruction...), left, s.weight())
}

// appendLocals appends the declarations of locals, with one more where a loop keeps the fuel in it.
func appendLocals(out []byte, f binary.Function, all []stretch) []byte {
	old := f.Body[:len(f.Body)-len(f.Code)]
	for _, s := range all[1:] {
		if !s.shared {
			n, size := binary.Uint32(old)
			return append(append(binary.AppendUint32(out, n+1), old[size:]...), 1, i64Type)
		}
	}
	return append(out, old...)
}

// What follows a yield. To take the turn of the loop anew keeps the call, which no register outlives, from meeting
// the way that is taken nearly always: wazero puts it behind the loop, and the loop keeps its registers.
var (
	goOn     []byte
	turnAnew = []byte{brOp, 1}
)

// spend appends: fuel = fuel - weight; if fuel >= 0 {} else { fuel = yield(fuel); then }.
func (r *rewriter) spend(out []byte, weight int64, then []byte) []byte {
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = binary.AppendInt64(append(out, i64Const), weight)
	return r.subtract(out, then)
}

// subtract appends the rest of spend, which takes the fuel and the weight from the stack.
//
// The yield stands behind the else for a reason: where two branches meet, wazero gives registers as the first of
// them left them, and the second one, with the call, must restore what it changed.
func (r *rewriter) subtract(out, then []byte) []byte {
	out = binary.AppendUint32(append(out, i64Sub, globalSet), r.fuel)
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = append(out, i64Const, 0, i64GeS, ifOp, noType, elseOp)
	return append(append(r.callYield(out), then...), endOp)
}

// spendLocal appends what stands at the beginning of a loop that keeps the fuel in a local: left = left - weight;
// fuel = left; if left >= 0 {} else { left = yield(left); take the turn anew }.
//
// It writes the global but does not read it, since a processor waits longer for a number on its way through
// memory than a short loop takes for a turn; written, it is right wherever the loop ends.
func (r *rewriter) spendLocal(out []byte, left uint32, weight int64) []byte {
	out = binary.AppendUint32(append(out, localGet), left)
	out = binary.AppendInt64(append(out, i64Const), weight)
	out = binary.AppendUint32(append(out, i64Sub, localTee), left)
	out = binary.AppendUint32(append(out, globalSet), r.fuel)
	out = binary.AppendUint32(append(out, localGet), left)
	out = append(out, i64Const, 0, i64GeS, ifOp, noType, elseOp)
	out = binary.AppendUint32(append(out, localGet), left)
	out = binary.AppendUint32(append(out, callOp), r.yield)
	out = binary.AppendUint32(append(out, localSet), left)
	return append(append(out, turnAnew...), endOp)
}

// callYield appends: fuel = yield(fuel).
func (r *rewriter) callYield(out []byte) []byte {
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = binary.AppendUint32(append(out, callOp), r.yield)
	return binary.AppendUint32(append(out, globalSet), r.fuel)
}

// chargeBody is the function charge: it spends fuel for a number of bytes, or of elements of a table, and
// returns that number.
func (r *rewriter) chargeBody() []byte {
	out := []byte{0} // no locals
	out = binary.AppendUint32(append(out, globalGet), r.fuel)
	out = append(out, localGet, 0, i64FromU, i64Const, perUnit, i64ShrU)
	return append(r.subtract(out, goOn), localGet, 0, endOp)
}
