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

// FuncType is the type of a function: its parameters and results.
type FuncType struct {
	Params, Results []ValueType
}

// String returns the type in a form such as "(i32, i32) -> (i64)".
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

// ExternKind is the kind of an import or an export.
type ExternKind byte

// The kinds of imports and exports.
const (
	ExternFunc   ExternKind = 0
	ExternTable  ExternKind = 1
	ExternMemory ExternKind = 2
	ExternGlobal ExternKind = 3
)

var externNames = [...]string{"function", "table", "memory", "global"}

// String returns the name of the kind, such as "function".
func (k ExternKind) String() string {
	if int(k) < len(externNames) {
		return externNames[k]
	}
	return fmt.Sprintf("extern kind %d", byte(k))
}

// Bounds is the initial size and, if HasMax is set, the maximum size of a memory or a table. The
// unit of a memory is the page of 64 KiB, that of a table the element.
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

// Import is a function, table, memory or global that the module imports from its host.
type Import struct {
	Module, Name string
	Kind         ExternKind
	// Type is the index of the type of an imported function. Table, Memory and Global are set for
	// the other kinds.
	Type   uint32
	Table  Table
	Memory Bounds
	Global GlobalType
}

// Export is a function, table, memory or global that the module exports.
type Export struct {
	Name string
	Kind ExternKind
	// Index is the index in the index space of the kind, in which imports come first.
	Index uint32
}

// Const is a constant expression: the instructions in Code, the last of which is end. If the
// expression is a single i32.const, IsNumber is true and Number is its value; if it is a single
// global.get, IsGlobal is true and Global is the index.
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

// Segment is a data segment. An active segment is written to the memory at Offset when the module
// is instantiated; a passive one is used by memory.init.
type Segment struct {
	Passive bool
	Offset  Const
	// Data is a part of the module, not a copy.
	Data []byte
}

// Function is a function that the module defines.
type Function struct {
	// Type is an index into Module.Types.
	Type uint32
	// Offset is the start of Body in the module, in bytes.
	Offset int
	// Body contains the declarations of locals and the instructions, without the size in front of
	// them. Code contains only the instructions, the last of which is end. Both are parts of the
	// module, not copies.
	Body, Code []byte
	// Locals is the number of locals, including parameters.
	Locals int
}

// Reference is an occurrence of a function index outside of code and names.
type Reference struct {
	// Offset and End delimit the number in the module, in bytes.
	Offset, End int
	Index       uint32
}

// Module is a parsed module. It refers to the bytes it was parsed from, which must not change while
// it is in use. It is safe for concurrent reads.
type Module struct {
	// Size is the module's size in bytes.
	Size int
	// Sections contains all sections in the order of the file, for code that rewrites the module.
	Sections []Section
	Types    []FuncType
	Imports  []Import
	// Funcs, Tables and GlobalTypes are the index spaces: first the imports, then the module's own
	// definitions. Funcs contains the index of the type of each function.
	Funcs       []uint32
	Tables      []Table
	GlobalTypes []GlobalType
	// Memory is the imported or defined memory, nil if there is none.
	Memory *Bounds
	// Globals and Functions contain the module's own definitions, without imports.
	Globals   []Global
	Functions []Function
	Exports   []Export
	// References contains all function indexes outside of code and names, in their order: in
	// exports, the start section, element segments and constants. Adding an imported function
	// changes them.
	References []Reference
	// Start is the index of the start function, -1 for none.
	Start int
	// Elements is the number of element segments.
	Elements int
	Data     []Segment
	// DataCount is the value of the data count section, -1 if there is none.
	DataCount int
	// Custom contains the names of the custom sections, in their order.
	Custom []string
}

// ImportedFuncs returns the number of imported functions, which is the index of the first defined
// function.
func (m *Module) ImportedFuncs() int { return len(m.Funcs) - len(m.Functions) }

// ImportedGlobals returns the number of imported globals, which is the index of the first defined
// global.
func (m *Module) ImportedGlobals() int { return len(m.GlobalTypes) - len(m.Globals) }

// FuncType returns the type of the function with that index, which must be less than len(m.Funcs).
func (m *Module) FuncType(index uint32) FuncType { return m.Types[m.Funcs[index]] }

// Export returns the export of that name. It returns false if there is none.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}
