package snapshot

import (
	"fmt"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// wasmPage is the size of a WebAssembly page in bytes. Core specification 4.2.8.
const wasmPage = 64 << 10

// These are the names of the exports that Rewrite adds.
const (
	reservedPrefix = "toolrun:"
	startExport    = reservedPrefix + "start"
	globalExport   = reservedPrefix + "global:" // the index follows
)

// Module is a rewritten module from which images can be created. The instances of a Module start
// with an empty memory, run no code on instantiation, and export all mutable globals. Module is
// safe for concurrent use.
type Module struct {
	// Binary is the module to compile.
	Binary []byte

	memory  []byte   // the content of the data segments, from address 0
	bytes   uint64   // the initial size of the memory
	globals []string // the names under which the mutable globals are exported
	start   bool     // whether the module has a start function, which is exported as startExport
}

// Rewrite returns the rewritten module. Rewrite returns an ErrUnsupported if the module defines no
// memory, imports anything other than functions, changes its tables, or has passive data. Rewrite
// also returns an ErrUnsupported if mutable globals contain vectors or references. In all other
// modules, the memory and the globals contain all state that a guest can change.
func Rewrite(m *binary.Module) (*Module, error) {
	if err := checkState(m); err != nil {
		return nil, err
	}
	memory, err := initialMemory(m)
	if err != nil {
		return nil, err
	}
	exports, globals := hiddenExports(m)
	sections, err := rewriteSections(m, exports)
	if err != nil {
		return nil, err
	}
	return &Module{
		Binary:  binary.Join(sections),
		memory:  memory,
		bytes:   uint64(m.Memory.Min) * wasmPage,
		globals: globals,
		start:   m.Start >= 0,
	}, nil
}

// checkState rejects modules with state that an image cannot contain.
func checkState(m *binary.Module) error {
	if m.Memory == nil {
		return unsupported("the module has no memory")
	}
	for _, i := range m.Imports {
		if i.Kind != binary.ExternFunc {
			return unsupported("the module imports the %s %q.%q", i.Kind, i.Module, i.Name)
		}
	}
	for i, g := range m.Globals {
		if g.Mutable && g.Type != binary.I32 && g.Type != binary.I64 && g.Type != binary.F32 && g.Type != binary.F64 {
			return unsupported("the mutable global %d has type %s", i, g.Type)
		}
	}
	for _, e := range m.Exports {
		if len(e.Name) >= len(reservedPrefix) && e.Name[:len(reservedPrefix)] == reservedPrefix {
			return unsupported("the module exports the reserved name %q", e.Name)
		}
	}
	return checkTables(m)
}

// initialMemory evaluates the active data segments in module order. Core specification 4.5.4.
func initialMemory(m *binary.Module) ([]byte, error) {
	size := uint64(m.Memory.Min) * wasmPage
	var used uint64
	for i, s := range m.Data {
		switch {
		case s.Passive:
			return nil, unsupported("the data segment %d is passive", i)
		case !s.Offset.IsNumber:
			return nil, unsupported("the offset of the data segment %d is not constant", i)
		}
		end := uint64(uint32(s.Offset.Number)) + uint64(len(s.Data))
		if end > size {
			return nil, unsupported("the data segment %d is outside the memory", i)
		}
		used = max(used, end)
	}
	memory := make([]byte, used)
	for _, s := range m.Data {
		copy(memory[uint32(s.Offset.Number):], s.Data)
	}
	return memory, nil
}

// hiddenExports returns the export entries that Rewrite adds: the mutable globals and the start
// function. hiddenExports also returns the names under which the globals are exported.
func hiddenExports(m *binary.Module) (exports [][]byte, globals []string) {
	for i, g := range m.GlobalTypes {
		if g.Mutable {
			name := fmt.Sprint(globalExport, i)
			globals = append(globals, name)
			exports = append(exports, exportEntry(name, binary.ExternGlobal, uint32(i)))
		}
	}
	if m.Start >= 0 {
		exports = append(exports, exportEntry(startExport, binary.ExternFunc, uint32(m.Start)))
	}
	return exports, globals
}

func exportEntry(name string, kind binary.ExternKind, index uint32) []byte {
	return binary.AppendUint32(append(binary.AppendName(nil, name), byte(kind)), index)
}

// rewriteSections adds the exports and removes the start function and the data.
func rewriteSections(m *binary.Module, exports [][]byte) ([]binary.Section, error) {
	var sections []binary.Section
	old := []byte{0} // vector with no exports
	for _, s := range m.Sections {
		switch {
		case s.ID == binary.ExportSection:
			old = s.Data
		case s.ID == binary.DataSection && m.DataCount > 0:
			sections = append(sections, binary.Section{ID: s.ID, Data: emptySegments(m.DataCount)})
			continue
		case s.ID == binary.StartSection || s.ID == binary.DataSection:
			continue
		}
		sections = append(sections, s)
	}
	count, entries, err := binary.Vector(old)
	if err != nil {
		return nil, err
	}
	data := binary.AppendVector(nil, count+uint32(len(exports)), append([][]byte{entries}, exports...)...)
	return binary.Insert(sections, binary.Section{ID: binary.ExportSection, Data: data}), nil
}

// emptySegments returns a data section with the given number of empty segments. If there is a data
// count section, memory.init and data.drop may refer to segments. Instantiation drops active
// segments, so the code always sees empty segments. Core specification 4.5.4.
func emptySegments(count int) []byte {
	data := binary.AppendUint32(nil, uint32(count))
	for range count {
		data = append(data, 0, 0x41, 0, 0x0b, 0) // an active segment: i32.const 0, end, no bytes
	}
	return data
}
