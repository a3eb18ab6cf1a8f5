package corpus

import (
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// Opcodes beside those of package assemble. Core specification, appendix A.7.
const (
	block        = 0x02
	brIf         = 0x0d
	brTable      = 0x0e
	ret          = 0x0f
	call         = 0x10
	callIndirect = 0x11
	localGet     = 0x20
	localSet     = 0x21
	globalGet    = 0x23
	globalSet    = 0x24
	i32Load      = 0x28
	i64Const     = 0x42
	memorySize   = 0x3f
	refNull      = 0xd0
	misc         = 0xfc // followed by one of the next
	memoryInit   = 8
	dataDrop     = 9
	memoryCopy   = 10
	memoryFill   = 11
	tableInit    = 12
	tableGrow    = 15
	tableFill    = 17

	funcref = 0x70
	i32     = 0x7f
	i64     = 0x7e
	v128    = 0x7b
)

// wasm returns a case that is a plug-in.
func wasm(name, mechanism, want string, code []byte) Case {
	return Case{
		Name: "wasm/" + name, Mechanism: mechanism, Want: mustWant(want),
		Tool: "tool.wasm", Files: []File{{Path: "tool.wasm", Data: code}},
	}
}

// assembled returns a plug-in with one page of memory. The function build adds its functions,
// imports first, and the entry.
func assembled(build func(m *wasmtest.Module)) []byte {
	m := &wasmtest.Module{Pages: 1}
	build(m)
	m.Func(marker, 0)
	return m.Bytes()
}

const (
	marker     = "toolrun_abi_1"
	entryName  = "toolrun_run"
	initialise = "_initialize"
)

// asking returns a plug-in that calls an import once. It traps unless the result is answer.
func asking(name string, args []int32, answer int32, data ...string) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(name, len(args))
		for i, text := range data {
			m.Data(uint32(i)<<8, text)
		}
		m.Func(entryName, 1, append(wasmtest.Trap(wasmtest.Call(f, args...), wasmtest.Const(answer)), wasmtest.Const(0)...)...)
	})
}

// doing returns a plug-in whose entry has the given locals, in the binary format, and code.
// Sections are added, or replace those of the same kind. Its types are 0: () -> (), 1: () -> i32;
// its functions are 0, the marker, and 1, the entry.
func doing(locals []byte, code []byte, sections ...binary.Section) []byte {
	all := []binary.Section{
		vector(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32}),
		vector(binary.FunctionSection, []byte{0}, []byte{1}),
		vector(binary.MemorySection, []byte{0, 1}),
		vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1)),
		vector(binary.CodeSection, body([]byte{0}, nil), body(locals, code)),
	}
	for _, s := range sections {
		all = binary.Insert(all, s)
	}
	return binary.Join(all)
}

// vector returns a section of entries.
func vector(id byte, entries ...[]byte) binary.Section {
	return binary.Section{ID: id, Data: binary.AppendVector(nil, uint32(len(entries)), entries...)}
}

// announcing returns a section that declares more entries than it has.
func announcing(id byte, count uint32, rest ...byte) binary.Section {
	return binary.Section{ID: id, Data: append(binary.AppendUint32(nil, count), rest...)}
}

func export(name string, kind binary.ExternKind, index uint32) []byte {
	return binary.AppendUint32(append(binary.AppendName(nil, name), byte(kind)), index)
}

// body returns the code of a function with its size.
func body(locals, code []byte) []byte {
	if locals == nil {
		locals = []byte{0}
	}
	whole := append(append(append([]byte{}, locals...), code...), wasmtest.End)
	return append(binary.AppendUint32(nil, uint32(len(whole))), whole...)
}

// index returns an instruction with an index.
func index(op byte, n uint32) []byte { return binary.AppendUint32([]byte{op}, n) }

// long returns an i64.const instruction.
func long(n int64) []byte { return binary.AppendInt64([]byte{i64Const}, n) }
