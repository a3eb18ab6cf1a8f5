package snapshot_test

import (
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// section returns a section that contains a vector of items.
func section(id byte, items ...[]byte) binary.Section {
	return binary.Section{ID: id, Data: binary.AppendVector(nil, uint32(len(items)), items...)}
}

func module(sections ...binary.Section) []byte { return binary.Join(sections) }

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func name(s string) []byte { return binary.AppendName(nil, s) }

// body returns the body of a function without locals. body adds the end instruction.
func body(code ...byte) []byte {
	code = append(append([]byte{0}, code...), 0x0b)
	return append(binary.AppendUint32(nil, uint32(len(code))), code...)
}

// These are the indexes of the function types in the test modules.
const (
	typeNothing = iota // () -> ()
	typeGet            // () -> (i32)
	typeGrow           // (i32) -> (i32)
	typeClock          // (i32, i64, i32) -> (i32)
)

var types = section(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, 0x7f}, []byte{0x60, 1, 0x7f, 1, 0x7f},
	[]byte{0x60, 3, 0x7f, 0x7e, 0x7f, 1, 0x7f})

// counter is a module with three pages of memory, data at 16 and at 65,540, and four mutable
// globals. The start function of the module sets the first global to 7. counter exports functions
// that count, grow, trap, and call the import "pause" of "host".
var counter = module(
	types,
	section(binary.ImportSection, join(name("host"), name("pause"), []byte{0, typeNothing})),
	section(binary.FunctionSection, []byte{typeNothing}, []byte{typeGet}, []byte{typeGrow}, []byte{typeNothing}, []byte{typeGet}),
	section(binary.TableSection, []byte{0x70, 0, 2}),
	section(binary.MemorySection, []byte{0, 3}),
	section(binary.GlobalSection,
		[]byte{0x7f, 1, 0x41, 1, 0x0b},                            // i32
		[]byte{0x7e, 1, 0x42, 2, 0x0b},                            // i64
		[]byte{0x7d, 1, 0x43, 0, 0, 0x80, 0x3f, 0x0b},             // f32
		[]byte{0x7c, 1, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x0b}, // f64
		[]byte{0x7f, 0, 0x41, 5, 0x0b},                            // i32, immutable
	),
	section(binary.ExportSection,
		join(name("count"), []byte{0, 2}), join(name("grow"), []byte{0, 3}), join(name("trap"), []byte{0, 4}),
		join(name("pause"), []byte{0, 5}), join(name("wide"), []byte{3, 1}), join(name("real"), []byte{3, 3})),
	binary.Section{ID: binary.StartSection, Data: []byte{1}},
	section(binary.ElementSection, []byte{0, 0x41, 0, 0x0b, 2, 2, 3}),
	section(binary.CodeSection,
		// start: set the first global to 7; increment the byte at 200
		body(0x41, 7, 0x24, 0, 0x41, 0xc8, 1, 0x41, 0xc8, 1, 0x28, 2, 0, 0x41, 1, 0x6a, 0x36, 2, 0),
		body(0x23, 0, 0x41, 1, 0x6a, 0x24, 0, 0x23, 0), // count: add 1 to the first global and return it
		body(0x20, 0, 0x40, 0),       // grow
		body(0x41, 9, 0x24, 0, 0x00), // trap: set the first global to 9 and trap
		// pause: set the first global to 50, call the host, write 1 at 300, return the global
		body(0x41, 50, 0x24, 0, 0x10, 0, 0x41, 0xac, 2, 0x41, 1, 0x3a, 0, 0, 0x23, 0),
	),
	section(binary.DataSection,
		join([]byte{0, 0x41, 16, 0x0b}, name("image")),
		join([]byte{0, 0x41, 0x84, 0x80, 0x04, 0x0b}, name("second page")),
		join([]byte{0, 0x41, 18, 0x0b}, name("AG"))), // the later segment overwrites the earlier one: "imAGe"
)

// asking is a module whose _initialize reads the monotonic clock.
var asking = module(
	types,
	section(binary.ImportSection, join(name("wasi_snapshot_preview1"), name("clock_time_get"), []byte{0, typeClock})),
	section(binary.FunctionSection, []byte{typeNothing}),
	section(binary.MemorySection, []byte{0, 1}),
	section(binary.ExportSection, join(name("_initialize"), []byte{0, 1})),
	section(binary.CodeSection, body(0x41, 1, 0x42, 0, 0x41, 8, 0x10, 0, 0x1a)),
)

// The function "with" returns a small valid module in which the given sections are added or
// replaced.
func with(others ...binary.Section) []byte {
	sections := []binary.Section{
		types,
		section(binary.FunctionSection, []byte{typeNothing}),
		section(binary.TableSection, []byte{0x70, 0, 2}),
		section(binary.MemorySection, []byte{0, 1}),
		section(binary.CodeSection, body()),
	}
	for _, s := range others {
		sections = binary.Insert(sections, s)
	}
	return binary.Join(sections)
}
