package binary

import "fmt"

// ValueType is the type of a value, by its byte in the binary format. Core specification 5.3.4.
type ValueType byte

// The value types of WebAssembly 2.0.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

var valueTypeNames = map[ValueType]string{I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128",
	FuncRef: "funcref", ExternRef: "externref"}

// String returns the type's name in the text format, such as "i32".
func (t ValueType) String() string {
	if name, ok := valueTypeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("type %#02x", byte(t))
}

// FuncType is what a function takes and returns.
type FuncType struct {
	Params, Results []ValueType
}

// String returns the type as in "(i32, i32) -> (i64)".
func (t FuncType) String() string { return list(t.Params) + " -> " + list(t.Results) }

func list(types []ValueType) string {
	text := "("
	for i, t := range types {
		if i > 0 {
			text += ", "
		}
		text += t.String()
	}
	return text + ")"
}

// ExternKind says what an import or an export is.
type ExternKind byte

// The kinds of imports and exports.
const (
	ExternFunc   ExternKind = 0
	ExternTable  ExternKind = 1
	ExternMemory ExternKind = 2
	ExternGlobal ExternKind = 3
)

var externNames = [...]string{"function", "table", "memory", "global"}

// String returns the kind in a word, such as "function".
func (k ExternKind) String() string {
	if int(k) < len(externNames) {
		return externNames[k]
	}
	return fmt.Sprintf("extern kind %d", byte(k))
}

// Bounds are the size of a memory in pages of 64 KiB, or of a table in elements: at the start and, where HasMax
// is true, at most.
type Bounds struct {
	Min, Max uint32
	HasMax   bool
}

// Table is the type of a table.
type Table struct {
	Element ValueType
	Bounds  Bounds
}

// GlobalType is the type of a global.
type GlobalType struct {
	Type    ValueType
	Mutable bool
}

// Import is something that the module asks its host for.
type Import struct {
	Module, Name string
	Kind         ExternKind
	// Type is the index of a function's type; the others stand for the other kinds.
	Type   uint32
	Table  Table
	Memory Bounds
	Global GlobalType
}

// Export is something that the module shows its host.
type Export struct {
	Name string
	Kind ExternKind
	// Index counts things of that kind, imported ones first.
	Index uint32
}

// Const is a constant expression: the instructions of Code, which end with the end instruction. Where it is a
// single i32.const or i64.const, IsNumber is true and Number is its value; where it is a single global.get,
// IsGlobal is true and Global the index.
type Const struct {
	Code     []byte
	Offset   int
	IsNumber bool
	Number   int64
	IsGlobal bool
	Global   uint32
}

// Global is a global that the module defines.
type Global struct {
	GlobalType
	Init Const
}

// Segment is a data segment. An active one is written to the memory at Place when the module is instantiated; a
// passive one waits for memory.init.
type Segment struct {
	Passive bool
	Offset   Const
	// Data is part of the module's bytes, not a copy.
	Data []byte
}

// Function is a function that the module defines.
type Function struct {
	// Type is an index into Module.Types.
	Type uint32
	// Offset is where Body begins in the module, in bytes.
	Offset int
	// Body is the declared locals and the instructions, without the size before them; part of the module's bytes.
	// Code is the instructions alone, with the end instruction.
	Body, Code []byte
	// Locals counts the parameters and the locals.
	Locals int
}

// Reference is a place outside of code and names where the index of a function stands.
type Reference struct {
	// Offset and End are where the number begins and ends in the module, in bytes.
	Offset, End int
	Index       uint32
}

// Module is what Parse found. It refers to the bytes it was made from, which must not change while it is in
// use. It is safe for concurrent use as long as nobody changes it.
type Module struct {
	// Size is the module's size in bytes.
	Size int
	// Sections are all sections in the order of the file, for those who write the module again.
	Sections []Section
	Types    []FuncType
	Imports  []Import
	// Funcs, Tables and GlobalTypes are the index spaces: imported ones first, then those of the module. A
	// function stands there as the index of its type.
	Funcs       []uint32
	Tables      []Table
	GlobalTypes []GlobalType
	// Memory is nil where there is none, be it imported or defined.
	Memory *Bounds
	// Globals and Functions are those that the module defines, the imported ones left out.
	Globals   []Global
	Functions []Function
	Exports   []Export
	// References are all places outside of code and names where a function's index stands, in their order: exports,
	// the start section, element segments and constants. Who adds an imported function changes them.
	References []Reference
	// Start is the index of the function to call at instantiation, -1 for none.
	Start int
	// Elements counts the element segments.
	Elements int
	Data     []Segment
	// DataCount is what the data count section says, -1 where there is none.
	DataCount int
	// Custom are the names of the custom sections, in their order.
	Custom []string
}

// ImportedFuncs returns how many functions are imported: the index of the first function of the module.
func (m *Module) ImportedFuncs() int { return len(m.Funcs) - len(m.Functions) }

// ImportedGlobals returns how many globals are imported: the index of the first global of the module.
func (m *Module) ImportedGlobals() int { return len(m.GlobalTypes) - len(m.Globals) }

// FuncType returns the type of the function with that index, which must be less than len(m.Funcs).
func (m *Module) FuncType(index uint32) FuncType { return m.Types[m.Funcs[index]] }

// Export returns what is exported by that name.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}
