package corpus

import (
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// wasmSpace are plug-ins that take too much memory, of one kind or another.
func wasmSpace() []Case {
	zero := wasmtest.Const(0)
	refused := append(wasmtest.Const(-1), wasmtest.I32Ne) // what grow answers is not "no"
	grow := slices.Concat(wasmtest.Const(64), []byte{wasmtest.MemoryGrow, 0})
	writeAll := slices.Concat(zero, wasmtest.Const(1), []byte{memorySize, 0}, wasmtest.Const(16), []byte{0x74, misc, memoryFill, 0}) // 0x74 is i32.shl
	return []Case{
		wasm("memory/grows", "Memory grows as long as the host lets it; each page is written, and then the plug-in gives up.", "memory_limit",
			doing(nil, slices.Concat([]byte{wasmtest.Loop, wasmtest.Empty}, grow, refused, []byte{brIf, 0, wasmtest.End}, writeAll, []byte{wasmtest.Unreachable}))),
		wasm("memory/grows_at_once", "Memory is to grow to four gigabytes in one step, and is written to whatever the answer was.", "memory_limit",
			doing(nil, slices.Concat(wasmtest.Const(65_535), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}, wasmtest.Const(-4), zero, []byte{wasmtest.I32Store, 2, 0}, zero))),
		wasm("memory/grows_in_vain", "A loop that asks for memory which it is not given.", "timeout",
			endless(slices.Concat(wasmtest.Const(65_535), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop})...)),
		wasm("memory/declared", "A module of a hundred bytes that starts with four gigabytes.", "source_invalid",
			doing(nil, zero, vector(binary.MemorySection, binary.AppendUint32([]byte{0}, 65_536)))),
		wasm("memory/declared_within", "All the memory that a run may have, from the start.", "output null",
			doing(nil, zero, vector(binary.MemorySection, binary.AppendUint32([]byte{0}, 1_024)))),
		wasm("memory/shared", "Memory that threads share, which never moves and so is all there from the start.", "source_invalid",
			doing(nil, zero, vector(binary.MemorySection, append([]byte{3, 1}, binary.AppendUint32(nil, 65_536)...)))),
		wasm("memory/wide", "Memory of 64 bits, whose places no check of 32 bits bounds.", "source_invalid",
			doing(nil, zero, vector(binary.MemorySection, []byte{4, 1}))),
		wasm("memory/two", "Two memories, of which a host may look at the wrong one.", "source_invalid",
			doing(nil, zero, vector(binary.MemorySection, []byte{0, 1}, []byte{0, 1}))),
		wasm("memory/most_below_least", "A memory that may have less than it starts with.", "source_invalid",
			doing(nil, zero, vector(binary.MemorySection, []byte{1, 2, 1}))),
		wasm("table/grows", "A table grows: it is memory of the host, and no part of the guest's.", "memory_limit or timeout or output null",
			doing(nil, append(again(slices.Concat([]byte{refNull, funcref}, wasmtest.Const(1<<20), []byte{misc, tableGrow, 0, wasmtest.Drop})...), zero...), table(1))),
		wasm("table/declared", "A table that starts with four billion elements.", "source_invalid",
			doing(nil, zero, table(4_294_967_295))),
		wasm("table/filled", "One instruction that writes a whole table, again and again.", "timeout or source_invalid",
			doing(nil, append(again(slices.Concat(zero, []byte{refNull, funcref}, wasmtest.Const(999_999), []byte{misc, tableFill, 0})...), zero...), table(999_999))),
		wasm("table/out_of_bounds", "A call through a place that the table does not have.", "tool_error",
			doing(nil, append(wasmtest.Const(-1), callIndirect, 1, 0), table(1))),
		wasm("table/wrong_type", "A call through a table of a function that has another type.", "tool_error",
			doing(nil, append(zero, callIndirect, 1, 0), table(1), elements(0))),
		wasm("table/null", "A call through a place of the table that is empty.", "tool_error",
			doing(nil, append(zero, callIndirect, 1, 0), table(1))),
		wasm("memory/load_beyond", "A read at the last place with the largest offset, whose sum leaves 32 bits.", "tool_error",
			doing(nil, slices.Concat(wasmtest.Const(-1), []byte{i32Load, 2}, binary.AppendUint32(nil, 4_294_967_295)))),
		wasm("memory/data_beyond", "Data that begins in memory and ends outside of it.", "tool_error or source_invalid",
			doing(nil, zero, vector(binary.DataSection, slices.Concat([]byte{0}, wasmtest.Const(65_530), []byte{wasmtest.End, 8}, []byte("too long"))))),
		wasm("memory/data_negative", "Data at a place below zero.", "tool_error or source_invalid",
			doing(nil, zero, vector(binary.DataSection, slices.Concat([]byte{0}, wasmtest.Const(-8), []byte{wasmtest.End, 1, 1})))),
		wasm("memory/data_dropped", "Data that was dropped is copied.", "tool_error",
			doing(nil, slices.Concat([]byte{misc, dataDrop, 0}, zero, zero, wasmtest.Const(4), []byte{misc, memoryInit, 0, 0}, zero),
				vector(binary.DataSection, append([]byte{1, 4}, "data"...)), binary.Section{ID: binary.DataCountSection, Data: []byte{1}})),
		wasm("memory/copy_beyond", "A copy whose length wraps around the end of memory.", "tool_error",
			doing(nil, slices.Concat(wasmtest.Const(65_535), zero, wasmtest.Const(-1), []byte{misc, memoryCopy, 0, 0}, zero))),
		wasm("table/init_beyond", "Elements are copied from beyond the end of their segment.", "tool_error",
			doing(nil, slices.Concat(zero, wasmtest.Const(5), wasmtest.Const(5), []byte{misc, tableInit, 0, 0}, zero), table(9), elements(0))),
		wasm("cpu/divides", "A division that the machine has no answer for, in the host's own process.", "tool_error",
			doing(nil, slices.Concat(wasmtest.Const(-2147483648), wasmtest.Const(-1), []byte{wasmtest.I32DivS}))),
		wasm("memory/kept", "What a run leaves in memory, in a global and in the table must be gone in the next one.", "output null", keepsState()),
	}
}

// keepsState traps where it finds what an earlier run has left; that there is one, the run itself cannot see, but the
// snapshot that it may start from is made by running what it initialises.
func keepsState() []byte {
	return assembled(func(m *wasmtest.Module) {
		look := slices.Concat(wasmtest.Const(64), []byte{i32Load, 2, 0})
		m.Func(initialise, 0, slices.Concat(wasmtest.Const(64), look, wasmtest.Const(1), []byte{wasmtest.I32Add, wasmtest.I32Store, 2, 0})...)
		m.Func(entryName, 1, slices.Concat(wasmtest.Trap(look, wasmtest.Const(1)), wasmtest.Const(64), wasmtest.Const(9), []byte{wasmtest.I32Store, 2, 0}, wasmtest.Const(0))...)
	})
}
