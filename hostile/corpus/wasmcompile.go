package corpus

import (
	"slices"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// wasmCompile are modules that are valid, and made to take a compiler more time or memory than anyone has. Where the
// host takes one after all, it is to be done with it in time.
func wasmCompile() []Case {
	zero := wasmtest.Const(0)
	refused := func(name, mechanism string, code []byte) Case {
		return wasm("compile/"+name, mechanism, "source_invalid", code)
	}
	return []Case{
		refused("branches", "A table of a million branches.", doing(nil, slices.Concat([]byte{block, wasmtest.Empty}, zero, []byte{brTable},
			binary.AppendUint32(nil, 1_000_000), make([]byte, 1_000_001), []byte{wasmtest.End}, zero))),
		refused("branch_tables", "Many tables of branches, each of which passes values on to each of its targets.", passingTables()),
		refused("blocks_carry", "Blocks of sixty results, within each other: one byte carries sixty values.", carrying()),
		refused("blocks_deep", "A hundred thousand blocks within blocks.", doing(nil, slices.Concat(slices.Repeat([]byte{block, wasmtest.Empty}, 100_000), slices.Repeat([]byte{wasmtest.End}, 100_000), zero))),
		refused("loops_deep", "A thousand loops within loops, whose variables live through all of them.", doing([]byte{1, 60, i32}, slices.Concat(
			slices.Repeat([]byte{wasmtest.Loop, wasmtest.Empty}, 1_000), slices.Repeat([]byte{wasmtest.End}, 1_000), zero))),
		refused("locals_through_blocks", "Nine thousand locals, each followed through nine thousand blocks.", doing(slices.Concat([]byte{1}, binary.AppendUint32(nil, 9_000), []byte{i32}),
			append(slices.Repeat(slices.Concat(zero, []byte{wasmtest.If, wasmtest.Empty}, zero, index(localSet, 8_999), []byte{wasmtest.End}), 9_000), zero...))),
		refused("ifs", "A hundred thousand decisions in one function, each of which doubles the ways through it.", doing(nil, append(slices.Repeat(slices.Concat(zero, []byte{wasmtest.If, wasmtest.Empty, wasmtest.End}), 100_000), zero...))),
		refused("body", "A function of two megabytes.", doing(nil, append(slices.Repeat(append(wasmtest.Const(1), wasmtest.Drop), 700_000), zero...))),
		refused("functions", "Two hundred thousand functions.", many(200_000)),
		refused("imports", "Ten thousand imports of one function.", manyImports(10_000)),
		refused("exports", "A hundred thousand names for one function.", manyExports(100_000)),
		refused("types", "A hundred thousand types.", doing(nil, zero, announcing(binary.TypeSection, 100_000, slices.Repeat([]byte{0x60, 0, 1, i32}, 100_000)...))),
		refused("type_wide", "A function of a thousand parameters and results.", doing(nil, zero, vector(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32},
			slices.Concat([]byte{0x60}, binary.AppendUint32(nil, 1_000), slices.Repeat([]byte{i64}, 1_000), binary.AppendUint32(nil, 1_000), slices.Repeat([]byte{i64}, 1_000))))),
		refused("segments", "Two hundred thousand segments of no data.", doing(nil, zero, announcing(binary.DataSection, 200_000, slices.Repeat([]byte{0, 0x41, 0, wasmtest.End, 0}, 200_000)...))),
		refused("elements", "A segment of six hundred thousand elements, each written when an instance is made.", doing(nil, zero, table(700_000),
			vector(binary.ElementSection, slices.Concat([]byte{0}, zero, []byte{wasmtest.End}, binary.AppendUint32(nil, 600_000), make([]byte, 600_000))))),
		refused("globals", "A hundred thousand globals, each of which every call may change.", doing(nil, zero,
			announcing(binary.GlobalSection, 100_000, slices.Repeat([]byte{i32, 1, 0x41, 0, wasmtest.End}, 100_000)...))),
		refused("sections", "A hundred thousand sections of no meaning.", append(doing(nil, zero), slices.Repeat([]byte{0, 2, 1, 'x'}, 100_000)...)),
		refused("tables", "A thousand tables.", doing(nil, zero, announcing(binary.TableSection, 1_000, slices.Repeat([]byte{funcref, 0, 0}, 1_000)...))),
		wasm("compile/operands", "A hundred thousand values on the stack at once, all of which are needed in the end.", "output null or source_invalid",
			doing(nil, slices.Concat(slices.Repeat(wasmtest.Const(1), 100_000), slices.Repeat([]byte{wasmtest.I32Add}, 99_999), []byte{wasmtest.Drop}, zero))),
		wasm("compile/dead", "Code that is never reached, half a megabyte of it.", "output null or source_invalid",
			doing(nil, slices.Concat(zero, []byte{ret}, slices.Repeat([]byte{wasmtest.I32Add}, 500_000)))),
		wasm("compile/calls", "A hundred thousand calls in one function, each of which may change forty globals.", "output null or source_invalid", callsWithGlobals()),
		wasm("compile/vectors", "Ten thousand vectors that live at once.", "output null or source_invalid", liveVectors()),
		wasm("compile/functions_small", "Fifty thousand functions of one instruction.", "output null or source_invalid", many(50_000)),
	}
}

// results is a type of n results, of which blocks may have as many.
func results(n int) []byte {
	return slices.Concat([]byte{0x60, 0}, binary.AppendUint32(nil, uint32(n)), slices.Repeat([]byte{i32}, n))
}

// carrying nests blocks that each hand sixty values on.
func carrying() []byte {
	const values, blocks = 60, 9_000
	code := slices.Concat(slices.Repeat([]byte{block, 2}, blocks), slices.Repeat(wasmtest.Const(1), values), slices.Repeat([]byte{wasmtest.End}, blocks),
		slices.Repeat([]byte{wasmtest.Drop}, values), wasmtest.Const(0))
	return doing(nil, code, vector(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32}, results(values)))
}

// passingTables has tables of branches that pass fifty values to each of a thousand targets.
func passingTables() []byte {
	const values, targets, tables = 50, 1_000, 100
	one := slices.Concat([]byte{block, 2}, slices.Repeat(wasmtest.Const(1), values+1), []byte{brTable}, binary.AppendUint32(nil, targets), make([]byte, targets+1),
		[]byte{wasmtest.End}, slices.Repeat([]byte{wasmtest.Drop}, values))
	return doing(nil, append(slices.Repeat(one, tables), wasmtest.Const(0)...),
		vector(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32}, results(values)))
}

// many has functions that do nothing.
func many(n int) []byte {
	functions := append([]byte{0, 1}, make([]byte, n)...)
	bodies := slices.Concat(body(nil, nil), body(nil, wasmtest.Const(0)), slices.Repeat(body(nil, nil), n))
	return doing(nil, nil, announcing(binary.FunctionSection, uint32(n)+2, functions...), announcing(binary.CodeSection, uint32(n)+2, bodies...))
}

func manyImports(n int) []byte {
	one := append(binary.AppendName(binary.AppendName(nil, "toolrun"), "input_len"), byte(binary.ExternFunc), 1)
	return doing(nil, wasmtest.Const(0), announcing(binary.ImportSection, uint32(n), slices.Repeat(one, n)...),
		vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, uint32(n)), export(entryName, binary.ExternFunc, uint32(n)+1)))
}

func manyExports(n int) []byte {
	names := [][]byte{export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1)}
	for i := range n {
		names = append(names, export("name "+string(rune('a'+i%26))+string(rune(0x4e00+i/26)), binary.ExternFunc, 0))
	}
	return doing(nil, wasmtest.Const(0), vector(binary.ExportSection, names...))
}

func callsWithGlobals() []byte {
	const globals, calls = 40, 100_000
	return doing(nil, append(slices.Repeat(index(call, 0), calls), wasmtest.Const(0)...),
		announcing(binary.GlobalSection, globals, slices.Repeat([]byte{i32, 1, 0x41, 0, wasmtest.End}, globals)...))
}

func liveVectors() []byte {
	const vectors = 10_000
	load := slices.Concat(wasmtest.Const(0), []byte{0xfd, 0x00, 4, 0}) // v128.load
	add := []byte{0xfd, 0xae, 0x01}                                    // i32x4.add
	return doing(nil, slices.Concat(slices.Repeat(load, vectors), slices.Repeat(add, vectors-1), []byte{wasmtest.Drop}, wasmtest.Const(0)))
}
