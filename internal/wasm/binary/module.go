package binary

import "fmt"

// ValueType is the type of a value, encoded as in the binary format. Core specification 5.3.4.
type ValueType byte

// These are the value types of WebAssembly 2.0.
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

// FuncType is the type of a function.
type FuncType struct {
	Params, Results []ValueType
}

// String returns the type as text, such as "(i32, i32) -> (i64)".
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

// These are the kinds of imports and exports.
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

// Bounds are the initial size and, if HasMax is set, the maximum size of a memory or a table. The
// unit is a page of 64 KiB for a memory and an element for a table.
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
	// Type is the type index of an imported function. Exactly one of Table, Memory and Global is
	// set for an import of another kind.
	Type   uint32
	Table  Table
	Memory Bounds
	Global GlobalType
}

// Export is a function, table, memory or global that the module exports.
type Export struct {
	Name string
	Kind ExternKind
	// Index is an index into the index space of the kind. In each index space, imports come first.
	Index uint32
}

// Const is a constant expression. Code contains the instructions of the expression, including the
// final end. If the expression is a single i32.const, IsNumber is true and Number is its value. If
// the expression is a single global.get, IsGlobal is true and Global is the index of the global.
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

// Segment is a data segment. An active segment is written to the memory at Offset on instantiation.
// A passive segment is written to the memory by memory.init.
type Segment struct {
	Passive bool
	Offset  Const
	// Data is a part of the module's bytes, not a copy.
	Data []byte
}

// Function is a function that the module defines.
type Function struct {
	// Type is an index into Module.Types.
	Type uint32
	// Offset is the offset of Body in the module, in bytes.
	Offset int
	// Body contains the declarations of locals and the instructions, without the preceding size.
	// Code contains only the instructions, including the final end. Body and Code are parts of the
	// module's bytes, not copies.
	Body, Code []byte
	// Locals is the number of locals including parameters.
	Locals int
}

// Reference is the position of a function index that is outside of code and names.
type Reference struct {
	// Offset and End are the start and the end of the encoded index in the module, in bytes.
	Offset, End int
	Index       uint32
}

// Module is a parsed module. Module refers to the bytes from which it was parsed. The parsed bytes
// must not change while the module is in use. Module is safe for concurrent reads.
type Module struct {
	// Size is the size of the module in bytes.
	Size int
	// Sections contains all sections in file order. Sections is for code that rewrites the module.
	Sections []Section
	Types    []FuncType
	Imports  []Import
	// Funcs, Tables and GlobalTypes are the index spaces. Each index space contains first the
	// imports, then the module's own definitions. Funcs contains the type index of each function.
	Funcs       []uint32
	Tables      []Table
	GlobalTypes []GlobalType
	// Memory is the imported or defined memory. If the module has no memory, Memory is nil.
	Memory *Bounds
	// Globals and Functions contain the module's own definitions, without imports.
	Globals   []Global
	Functions []Function
	Exports   []Export
	// References contains all function indexes outside of code and names, in file order. The
	// function indexes are in exports, the start section, element segments and constants. If code
	// adds an imported function, it must change the indexes in References.
	References []Reference
	// Start is the index of the start function, or -1 if no start function exists.
	Start int
	// Elements is the number of element segments.
	Elements int
	Data     []Segment
	// DataCount is the value of the data count section, or -1 if no such section exists.
	DataCount int
	// Custom contains the names of the custom sections in file order.
	Custom []string
}

// ImportedFuncs returns the number of imported functions. The number of imported functions is also
// the index of the first function that the module defines.
func (m *Module) ImportedFuncs() int { return len(m.Funcs) - len(m.Functions) }

// ImportedGlobals returns the number of imported globals. The number of imported globals is also
// the index of the first global that the module defines.
func (m *Module) ImportedGlobals() int { return len(m.GlobalTypes) - len(m.Globals) }

// FuncType returns the type of the function with the given index. The index must be less than
// len(m.Funcs).
func (m *Module) FuncType(index uint32) FuncType { return m.Types[m.Funcs[index]] }

// Export returns the export with the given name. If no such export exists, ok is false.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}
