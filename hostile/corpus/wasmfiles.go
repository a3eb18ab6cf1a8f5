package corpus

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// wasmFiles are files that are no plug-in, or only look like one.
func wasmFiles() []Case {
	zero := wasmtest.Const(0)
	plain := doing(nil, zero)
	refused := func(name, mechanism string, code []byte) Case { return wasm(name, mechanism, "source_invalid", code) }
	custom := func(content string) binary.Section {
		return binary.Section{ID: binary.CustomSection, Data: []byte(content)}
	}
	withCode := func(code ...byte) []byte { return doing(nil, code) }
	return []Case{
		refused("file/empty", "A file of nothing.", nil),
		refused("file/text", "The text form of a module.", []byte("(module (func (export \"toolrun_run\") (result i32) (loop (br 0))))")),
		refused("file/executable", "A program of the machine's own.", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 64)...)),
		refused("file/component", "A component, whose layer stands where the version does.", []byte("\x00asm\x0d\x00\x01\x00")),
		refused("file/cut", "A module that ends in the middle of a function.", plain[:len(plain)-4]),
		refused("file/more", "A module with something behind its end.", append(bytes.Clone(plain), "\x7f\x01\x00"...)),
		refused("bomb/types", "Fifteen bytes that announce four billion types.", binary.Join([]binary.Section{announcing(binary.TypeSection, 4_294_967_295)})),
		refused("bomb/functions", "A list of a hundred million functions, all but one of which are missing.", doing(nil, zero, announcing(binary.FunctionSection, 100_000_000, 0, 1))),
		refused("bomb/params", "A type of a billion parameters.", doing(nil, zero, binary.Section{ID: binary.TypeSection, Data: append([]byte{1, 0x60}, binary.AppendUint32(nil, 1_000_000_000)...)})),
		refused("bomb/imports", "A billion imports are announced.", doing(nil, zero, announcing(binary.ImportSection, 1_000_000_000))),
		refused("bomb/exports", "Four billion exports are announced.", doing(nil, zero, announcing(binary.ExportSection, 4_294_967_295, 1))),
		refused("bomb/globals", "Four billion globals are announced.", doing(nil, zero, announcing(binary.GlobalSection, 4_294_967_295, i32))),
		refused("bomb/elements", "A segment of four billion elements.", doing(nil, zero, table(1),
			binary.Section{ID: binary.ElementSection, Data: slices.Concat([]byte{1, 0}, zero, []byte{wasmtest.End}, binary.AppendUint32(nil, 4_294_967_295))})),
		refused("bomb/data", "Four billion segments of data are announced.", doing(nil, zero, announcing(binary.DataSection, 4_294_967_295))),
		refused("bomb/data_count", "The number of segments, told ahead, is four billion.", doing(nil, zero, binary.Section{ID: binary.DataCountSection, Data: binary.AppendUint32(nil, 4_294_967_295)})),
		refused("bomb/name", "A name of two gigabytes, of which two bytes are there.", doing(nil, zero,
			binary.Section{ID: binary.ImportSection, Data: append([]byte{1}, append(binary.AppendUint32(nil, 2_147_483_647), "ab"...)...)})),
		refused("bomb/locals", "A function of four billion locals, in five bytes.", doing(append([]byte{1}, append(binary.AppendUint32(nil, 4_294_967_295), i32)...), zero)),
		refused("bomb/locals_sum", "Groups of locals whose sum is small again in 32 bits.", doing(slices.Concat([]byte{2}, binary.AppendUint32(nil, 4_294_967_295), []byte{i32}, binary.AppendUint32(nil, 2), []byte{i64}), zero)),
		refused("bomb/branches", "A table of four billion branches.", withCode(slices.Concat(zero, []byte{brTable}, binary.AppendUint32(nil, 4_294_967_295))...)),
		refused("bomb/body", "A function whose size is more than the file's.", doing(nil, zero, binary.Section{ID: binary.CodeSection, Data: append([]byte{2, 2, 0, wasmtest.End}, binary.AppendUint32(nil, 4_294_967_295)...)})),
		refused("file/section_twice", "A section that stands twice, of which each reader takes another.",
			append(bytes.Clone(plain), append([]byte{binary.CodeSection, byte(len(codeOf(plain)))}, codeOf(plain)...)...)),
		refused("file/sections_mixed", "Sections in another order.", mixed(plain)),
		refused("file/section_unknown", "A section of a number that no one gave out.", append(bytes.Clone(plain), 99, 1, 0)),
		refused("file/size_long", "A size of six bytes, where five hold all there is.", append(bytes.Clone(plain), 0, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0)),
		refused("file/custom_name", "A section of no meaning, whose name is longer than itself.", doing(nil, zero, custom("\xff\x7fname"))),
		refused("file/functions_without_code", "More functions than there is code for.", doing(nil, zero, vector(binary.FunctionSection, []byte{0}, []byte{1}, []byte{1}))),
		refused("file/type_of_none", "A function of a type that there is not.", doing(nil, zero, vector(binary.FunctionSection, []byte{0}, []byte{9}))),
		refused("file/export_of_none", "An export of a function that there is not.", doing(nil, zero, vector(binary.ExportSection, export(entryName, binary.ExternFunc, 77)))),
		refused("file/export_twice", "Two exports of one name, of which the host checks one and calls the other.", doing(nil, zero, vector(binary.ExportSection,
			export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1), export(entryName, binary.ExternFunc, 0)))),
		refused("file/start_of_none", "A start function that there is not.", doing(nil, zero, binary.Section{ID: binary.StartSection, Data: []byte{9}})),
		refused("file/start_answers", "A start function that answers something.", doing(nil, zero, binary.Section{ID: binary.StartSection, Data: []byte{1}})),
		refused("file/name_not_utf8", "An export whose name is no text.", doing(nil, zero, vector(binary.ExportSection, export("\xff\xfe", binary.ExternFunc, 0)))),
		refused("code/underflow", "An addition of values that are not there: its operands would be the host's.", withCode(wasmtest.I32Add)),
		refused("code/wrong_type", "An integer of 64 bits where an address is due.", withCode(append(long(-1), i32Load, 2, 0)...)),
		refused("code/branch_beyond", "A branch out of more blocks than there are.", withCode(wasmtest.Br, 9)),
		refused("code/end_missing", "A block without an end.", withCode(append([]byte{block, wasmtest.Empty}, zero...)...)),
		refused("code/end_twice", "Code behind the end of a function.", withCode(slices.Concat(zero, []byte{wasmtest.End}, zero)...)),
		refused("code/else_alone", "An else without an if.", withCode(append([]byte{0x05}, zero...)...)),
		refused("code/local_of_none", "A local that there is not: its place in the frame is another's.", withCode(index(localGet, 4_000_000_000)...)),
		refused("code/global_of_none", "A global that there is not.", withCode(index(globalGet, 3)...)),
		refused("code/global_constant", "A global that is constant is changed.", doing(nil, slices.Concat(zero, index(globalSet, 0), zero),
			vector(binary.GlobalSection, slices.Concat([]byte{i32, 0}, zero, []byte{wasmtest.End})))),
		refused("code/call_of_none", "A call of a function that there is not.", withCode(index(call, 1_000_000)...)),
		refused("code/lane_beyond", "A shuffle of lanes that no vector has.", doing([]byte{1, 1, v128}, slices.Concat(index(localGet, 0), index(localGet, 0), []byte{0xfd, 0x0d}, slices.Repeat([]byte{200}, 16), []byte{wasmtest.Drop}, zero))),
		refused("code/alignment", "A read with an alignment of 2^40.", withCode(append(zero, i32Load, 40, 0)...)),
		refused("code/unknown", "An instruction that there is not.", withCode(0xff, 0xff)),
		refused("code/threads", "An instruction of the proposal for threads, which waits until another wakes it.", withCode(slices.Concat(zero, zero, long(-1), []byte{0xfe, 0x01, 2, 0})...)),
		refused("code/tail_call", "A call that leaves no frame: a recursion of it never ends, and needs no loop.", withCode(index(0x12, 1)...)),
		refused("code/exceptions", "An instruction of the proposal for exceptions, which could catch what stops it.", withCode(append([]byte{0x06, wasmtest.Empty, 0x19, wasmtest.End}, zero...)...)),
		refused("code/dead_types", "Code that is never reached, of types that cannot be.", withCode(wasmtest.Unreachable, wasmtest.I32Add, 0x7c, wasmtest.Drop)),
		refused("import/elsewhere", "An import of a module that no host gives.", importingFrom("env", "system")),
		refused("import/fuel", "An import of the function that the host counts time by.", importingFrom("toolrun:fuel", "yield")),
		refused("import/unknown", "An import that a later host may have, of a module that there is.", importingFrom("memory", "grant_all")),
		refused("import/unknown_preview", "A function of WASI that there is not.", importingFrom("wasi_snapshot_preview1", "proc_exec")),
		refused("import/later_preview", "A function of the next WASI.", importingFrom("wasi:sockets/tcp@0.2.0", "start-connect")),
		refused("import/wrong_type", "A function of the host with fewer parameters than it takes: the rest would be what lies on the stack.", importingFrom("toolrun", "input_read")),
		refused("import/memory", "The memory is to be the host's.", doing(nil, zero, vector(binary.ImportSection, slices.Concat(binary.AppendName(binary.AppendName(nil, "toolrun"), "memory"), []byte{byte(binary.ExternMemory), 0, 1})))),
		refused("import/table", "A table is to be the host's.", doing(nil, zero, vector(binary.ImportSection, slices.Concat(binary.AppendName(binary.AppendName(nil, "toolrun"), "table"), []byte{byte(binary.ExternTable), funcref, 0, 1})))),
		refused("import/long_name", "An import whose name is a megabyte that a message would repeat.", importingFrom("toolrun", strings.Repeat("x", 1<<20))),
		refused("export/no_marker", "A module of another purpose.", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(entryName, binary.ExternFunc, 1)))),
		refused("export/command", "A program that runs once from its start to its end.", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export("_start", binary.ExternFunc, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1)))),
		wasm("export/other_version", "A plug-in of a version of the contract that is none.", "abi_mismatch", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export("toolrun_abi_\x1b[2J", binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1)))),
		refused("export/memory_is_function", "The memory is a function.", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternFunc, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 1)))),
		refused("export/entry_is_memory", "The entry is a memory.", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternMemory, 0)))),
		refused("export/entry_takes", "The entry answers nothing: what the host reads as its answer is what lies there.", doing(nil, zero, vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 0), export(entryName, binary.ExternFunc, 0)))),
		refused("file/names_garbage", "Names of functions, four billion of them, of which none is there.",
			append(bytes.Clone(plain), binary.Join([]binary.Section{custom("\x04name\x01\x05\xff\xff\xff\xff\x0f")})[8:]...)),
		wasm("file/debug_garbage", "Sections for debuggers, of random bytes, which a trap might read.", "tool_error",
			append(doing(nil, []byte{wasmtest.Unreachable}), binary.Join([]binary.Section{custom("\x0b.debug_line\xff\xff\xff\x7f\x05\x00"), custom("\x0b.debug_info\xf0\xff\xff\xff")})[8:]...)),
		wasm("file/function_names", "Names of functions that a trap tells: a megabyte, with control characters.", "tool_error",
			append(doing(nil, []byte{wasmtest.Unreachable}), binary.Join([]binary.Section{nameSection(strings.Repeat("\x1b[2J\n", 10_000))})[8:]...)),
	}
}

// codeOf is the content of a module's code section.
func codeOf(module []byte) []byte {
	sections, _ := binary.Sections(module) // the module is ours
	return sections[len(sections)-1].Data
}

// mixed puts the last section first.
func mixed(module []byte) []byte {
	sections, _ := binary.Sections(module) // the module is ours
	last := len(sections) - 1
	return binary.Join(append([]binary.Section{sections[last]}, sections[:last]...))
}

// importingFrom is a plug-in with one import, a function of no parameters and no result.
func importingFrom(module, name string) []byte {
	imported := append(binary.AppendName(binary.AppendName(nil, module), name), byte(binary.ExternFunc), 0)
	return doing(nil, wasmtest.Const(0), vector(binary.ImportSection, imported),
		vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 1), export(entryName, binary.ExternFunc, 2)))
}

// nameSection names function 1.
func nameSection(name string) binary.Section {
	names := binary.AppendName([]byte{1, 1}, name)
	content := append(binary.AppendName(nil, "name"), 1)
	return binary.Section{ID: binary.CustomSection, Data: append(binary.AppendUint32(content, uint32(len(names))), names...)}
}
