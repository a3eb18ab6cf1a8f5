package wasmtest

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// Module builds a WebAssembly module. The zero value of Module has a memory of zero pages that is
// exported as "memory".
type Module struct {
	// Pages is the initial size of the memory in pages.
	Pages uint32
	// MaxPages is the maximum size of the memory in pages, or 0 for no maximum.
	MaxPages uint32

	imports, types, functions, globals, exports, bodies, data [][]byte
}

// Import adds an imported function with one result and returns its index. The name of the import
// has the form module.name. All imports must be added before the first Func.
func (m *Module) Import(name string, params int) uint32 {
	module, field, _ := strings.Cut(name, ".")
	entry := binary.AppendName(binary.AppendName(nil, module), field)
	entry = append(entry, byte(binary.ExternFunc))
	m.imports = append(m.imports, binary.AppendUint32(entry, m.signature(params, 1)))
	return uint32(len(m.imports) - 1)
}

// Func adds a function without parameters and returns its index. Unless name is "", Func exports
// the function. The argument "code" must not include the final end.
func (m *Module) Func(name string, results int, code ...byte) uint32 {
	m.functions = append(m.functions, binary.AppendUint32(nil, m.signature(0, results)))
	body := append([]byte{0}, append(code, End)...)
	m.bodies = append(m.bodies, append(binary.AppendUint32(nil, uint32(len(body))), body...))
	index := uint32(len(m.imports) + len(m.functions) - 1)
	if name != "" {
		m.Export(name, binary.ExternFunc, index)
	}
	return index
}

// Export adds an export.
func (m *Module) Export(name string, kind binary.ExternKind, index uint32) {
	entry := append(binary.AppendName(nil, name), byte(kind))
	m.exports = append(m.exports, binary.AppendUint32(entry, index))
}

// Global adds a mutable global of type i32 and returns the global's index.
func (m *Module) Global(n int32) uint32 {
	const i32, mutable = 0x7f, 1
	m.globals = append(m.globals, slices.Concat([]byte{i32, mutable}, Const(n), []byte{End}))
	return uint32(len(m.globals) - 1)
}

// Data adds an active data segment.
func (m *Module) Data(at uint32, bytes string) {
	segment := slices.Concat([]byte{0}, Const(int32(at)), []byte{End})
	m.data = append(m.data, binary.AppendName(segment, bytes))
}

func (m *Module) signature(params, results int) uint32 {
	const function, i32 = 0x60, 0x7f
	list := func(n int) []byte {
		return append(binary.AppendUint32(nil, uint32(n)), slices.Repeat([]byte{i32}, n)...)
	}
	m.types = append(m.types, slices.Concat([]byte{function}, list(params), list(results)))
	return uint32(len(m.types) - 1)
}

// Bytes returns the encoded module.
func (m *Module) Bytes() []byte {
	memory := append([]byte{0}, binary.AppendUint32(nil, m.Pages)...)
	if m.MaxPages > 0 {
		memory = append([]byte{1}, binary.AppendUint32(binary.AppendUint32(nil, m.Pages), m.MaxPages)...)
	}
	exports := append([][]byte{append(binary.AppendName(nil, "memory"), byte(binary.ExternMemory), 0)}, m.exports...)
	var sections []binary.Section
	for _, s := range []struct {
		id      byte
		entries [][]byte
	}{
		{binary.TypeSection, m.types}, {binary.ImportSection, m.imports}, {binary.FunctionSection, m.functions},
		{binary.MemorySection, [][]byte{memory}}, {binary.GlobalSection, m.globals}, {binary.ExportSection, exports}, {binary.CodeSection, m.bodies}, {binary.DataSection, m.data},
	} {
		if len(s.entries) > 0 {
			sections = append(sections, binary.Section{ID: s.id, Data: binary.AppendVector(nil, uint32(len(s.entries)), s.entries...)})
		}
	}
	return binary.Join(sections)
}
