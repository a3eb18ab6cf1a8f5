package corpus

import (
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// again is a loop around code that leaves nothing, for ever.
func again(code ...byte) []byte {
	return slices.Concat([]byte{wasmtest.Loop, wasmtest.Empty}, code, []byte{wasmtest.Br, 0, wasmtest.End})
}

// endless is a plug-in whose entry never returns.
func endless(code ...byte) []byte {
	return doing(nil, append(again(code...), wasmtest.Const(0)...))
}

// wasmTime are plug-ins that take too long, or call too deep.
func wasmTime() []Case {
	zero := wasmtest.Const(0)
	selfCall := doing(nil, index(call, 1))
	return []Case{
		wasm("cpu/empty_loop", "A loop that does nothing, for ever: machine code that never comes back to the host.", "timeout", endless()),
		wasm("cpu/branch_table", "A loop that is left and entered by a table of branches.", "timeout",
			doing(nil, slices.Concat([]byte{wasmtest.Loop, wasmtest.Empty, wasmtest.Loop, wasmtest.Empty}, zero, []byte{brTable, 2, 0, 1, 1, wasmtest.End, wasmtest.End}, zero))),
		wasm("cpu/nested_loops", "A hundred loops within loops, each of which goes back to the outermost.", "timeout",
			doing(nil, slices.Concat(slices.Repeat([]byte{wasmtest.Loop, wasmtest.Empty}, 100), []byte{wasmtest.Br, 99}, slices.Repeat([]byte{wasmtest.End}, 100), zero))),
		wasm("cpu/calls_double", "Calls that double at each of sixty levels: there is no loop to count.", "timeout", doublingCalls(60)),
		wasm("cpu/indirect", "A loop of calls through a table.", "timeout", indirectLoop()),
		wasm("cpu/fill", "One instruction that writes all memory, again and again: it takes milliseconds and counts as one.", "timeout",
			growThen(again(slices.Concat(zero, wasmtest.Const(7), wasmtest.Const(60<<20), []byte{misc, memoryFill, 0})...))),
		wasm("cpu/copy", "One instruction that copies memory over itself, shifted by a byte.", "timeout",
			growThen(again(slices.Concat(wasmtest.Const(1), zero, wasmtest.Const(60<<20), []byte{misc, memoryCopy, 0, 0})...))),
		wasm("cpu/straight", "A loop of one long stretch of code without a branch.", "timeout",
			endless(slices.Concat(wasmtest.Const(1), slices.Repeat(append(wasmtest.Const(3), wasmtest.I32Add), 50_000), []byte{wasmtest.Drop})...)),
		wasm("cpu/initialise", "The loop is in what runs once for many runs.", "timeout", assembled(func(m *wasmtest.Module) {
			m.Func(initialise, 0, again()...)
			m.Func(entryName, 1, zero...)
		})),
		wasm("cpu/start", "The loop is in the start function, which runs while an instance is made.", "timeout",
			doing(nil, zero, binary.Section{ID: binary.StartSection, Data: []byte{0}}, vector(binary.CodeSection, body(nil, again()), body(nil, zero)))),
		wasm("cpu/host_calls", "A loop of calls that the host answers at once: it is seldom in the guest's own code.", "timeout", assembled(func(m *wasmtest.Module) {
			f := m.Import("toolrun.input_len", 0)
			m.Func(entryName, 1, append(again(append(wasmtest.Call(f), wasmtest.Drop)...), zero...)...)
		})),
		wasm("cpu/host_copies", "A loop of calls in which the host copies the context out, to the same place.", "timeout", assembled(func(m *wasmtest.Module) {
			f := m.Import("toolrun.context_read", 3)
			m.Func(entryName, 1, append(again(append(wasmtest.Call(f, 0, 0, 60_000), wasmtest.Drop)...), zero...)...)
		})),
		wasm("call/flood", "A call of memory in an endless loop, by a guest that has no event loop to give way to.", "call_limit", assembled(func(m *wasmtest.Module) {
			f := m.Import("memory.get_content", 6)
			m.Data(0, Own)
			m.Func(entryName, 1, append(again(append(wasmtest.Call(f, 0, 3, 0, 0, 0, 0), wasmtest.Drop)...), zero...)...)
		})),
		wasm("stack/recursion", "A function that calls itself, with nothing to keep but the place to return to.", "stack_limit", selfCall),
		wasm("stack/start", "The recursion is in the start function.", "stack_limit",
			doing(nil, zero, binary.Section{ID: binary.StartSection, Data: []byte{0}}, vector(binary.CodeSection, body(nil, index(call, 0)), body(nil, zero)))),
		wasm("stack/frames", "A function that calls itself, with a frame of ten thousand locals that are all in use.", "stack_limit", wideRecursion()),
		wasm("stack/indirect", "A function that calls itself through a table.", "stack_limit",
			doing(nil, append(zero, callIndirect, 1, 0), table(1), elements(1))),
		wasm("stack/mutual", "Two functions that call each other, one of which passes what the other never takes.", "stack_limit", assembled(func(m *wasmtest.Module) {
			m.Func("", 1, index(call, 1)...)
			m.Func(entryName, 1, index(call, 0)...)
		})),
		wasm("stack/host_in_recursion", "A function that calls the host at each level of its recursion.", "stack_limit", assembled(func(m *wasmtest.Module) {
			f := m.Import("toolrun.input_len", 0)
			m.Func(entryName, 1, slices.Concat(wasmtest.Call(f), []byte{wasmtest.Drop}, index(call, 1))...)
		})),
	}
}

// doublingCalls are functions of which each calls the next one twice.
func doublingCalls(levels int) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Func("", 0)
		for range levels {
			f = m.Func("", 0, slices.Concat(index(call, f), index(call, f))...)
		}
		m.Func(entryName, 1, append(index(call, f), wasmtest.Const(0)...)...)
	})
}

// indirectLoop calls an empty function through a table, for ever.
func indirectLoop() []byte {
	return doing(nil, append(again(append(wasmtest.Const(0), callIndirect, 0, 0)...), wasmtest.Const(0)...), table(1), elements(0))
}

// table is a section with a table of functions that may grow.
func table(size uint32) binary.Section {
	return vector(binary.TableSection, binary.AppendUint32([]byte{funcref, 0}, size))
}

// elements puts functions at the beginning of the table.
func elements(functions ...byte) binary.Section {
	segment := slices.Concat([]byte{0}, wasmtest.Const(0), []byte{wasmtest.End, byte(len(functions))}, functions)
	return vector(binary.ElementSection, segment)
}

// growThen asks for memory up to its limit before it does the rest.
func growThen(code []byte) []byte {
	return doing(nil, slices.Concat(wasmtest.Const(1_000), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}, code, wasmtest.Const(0)))
}

// wideRecursion is a function that keeps many values over a call of itself.
func wideRecursion() []byte {
	const locals = 5_000
	var code []byte
	for i := range uint32(locals) {
		code = append(append(code, wasmtest.Const(int32(i))...), index(localSet, i)...)
	}
	code = slices.Concat(code, index(call, 1))
	for i := range uint32(locals) {
		code = append(append(code, index(localGet, i)...), wasmtest.I32Add)
	}
	return doing(append([]byte{1}, append(binary.AppendUint32(nil, locals), i32)...), code)
}
