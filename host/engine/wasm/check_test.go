package wasm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// plugin returns a plug-in. The entry of the plug-in runs the given code. The argument "prepare" is
// a function that can add imports and functions.
func plugin(prepare func(m *wasmtest.Module), code ...byte) []byte {
	m := &wasmtest.Module{Pages: 1}
	if prepare != nil {
		prepare(m)
	}
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(code, wasmtest.Const(0)...)...)
	return m.Bytes()
}

func imports(name string, params int) func(m *wasmtest.Module) {
	return func(m *wasmtest.Module) { m.Import(name, params) }
}

func exports(results int, names ...string) []byte {
	m := &wasmtest.Module{Pages: 1}
	for _, name := range names {
		var code []byte
		if results == 1 {
			code = wasmtest.Const(0)
		}
		m.Func(name, results, code...)
	}
	return m.Bytes()
}

// command returns a WASI command. One export of the command has the type of an entry.
func command(entry string) []byte {
	m := &wasmtest.Module{Pages: 1}
	m.Func("_start", 0)
	m.Func(entry, 1, wasmtest.Const(0)...)
	return m.Bytes()
}

// extism returns a module that resembles a plug-in for Extism, another plug-in system.
func extism(command bool) []byte {
	m := &wasmtest.Module{Pages: 1}
	m.Import("extism:host/env.input_length", 0)
	if command {
		m.Func("_start", 0)
	}
	m.Func("run_test", 1, wasmtest.Const(0)...)
	return m.Bytes()
}

// TestExtendedConst tests a global whose initial value is a sum. If the global has a wrong value,
// the plug-in traps.
func TestExtendedConst(t *testing.T) {
	const globalGet, i32 = 0x23, 0x7f
	sections, err := binary.Sections(plugin(nil, wasmtest.Trap([]byte{globalGet, 0}, wasmtest.Const(42))...))
	if err != nil {
		t.Fatal(err)
	}
	sum := slices.Concat([]byte{i32, 0}, wasmtest.Const(40), wasmtest.Const(2), []byte{wasmtest.I32Add, wasmtest.End})
	code := binary.Join(binary.Insert(sections, binary.Section{ID: binary.GlobalSection, Data: append([]byte{1}, sum...)}))
	program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "p.wasm", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if _, err := program.Run(t.Context(), engine.Input{Input: []byte("{}"), Context: []byte("{}")}, engine.Host{}); err != nil {
		t.Errorf("Run = %v; want no trap", err)
	}
}

// without removes a section from a module.
func without(id byte, module []byte) []byte {
	sections, err := binary.Sections(module)
	if err != nil {
		panic(err)
	}
	var kept []binary.Section
	for _, s := range sections {
		if s.ID != id {
			kept = append(kept, s)
		}
	}
	return binary.Join(kept)
}

func TestLoadRejects(t *testing.T) {
	good := plugin(nil)
	for _, test := range []struct {
		name  string
		code  []byte
		entry string
		fault abi.Code
		want  string // a substring of the message or the hint
	}{
		{"an empty file", nil, "", abi.SourceInvalid, "p.wasm: "},
		{"a text", []byte("export default () => 1"), "", abi.SourceInvalid, "but text"},
		{"a truncated module", good[:len(good)-3], "", abi.SourceInvalid, "truncated"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), "", abi.SourceInvalid, "component"},
		{"2^32 elements in 15 bytes", []byte("\x00asm\x01\x00\x00\x00\x09\x05\xff\xff\xff\xff\x0f"), "", abi.SourceInvalid, "4294967295 element segments do not fit"},
		{"no marker", exports(1, "toolrun_run"), "", abi.SourceInvalid, "abi/guest"},
		{"another version", exports(0, "toolrun_abi_2"), "", abi.ABIMismatch, `version "2"`},
		{"a command", exports(0, "_start", "toolrun_abi_1"), "", abi.SourceInvalid, "-buildmode=c-shared"},
		{"a command with the default entry", command("toolrun_run"), "", abi.SourceInvalid, "-buildmode=c-shared"},
		{"a command of TinyGo", command("run_test"), "", abi.SourceInvalid, `TinyGo (0.34 or newer), -mexec-model=reactor in C, crate-type cdylib in Rust; to use another export, set entry in the manifest to one of: "run_test"`},
		{"an Extism plug-in", extism(false), "", abi.SourceInvalid, `the module is an Extism plug-in: the module imports "extism:host/env"`},
		{"an Extism plug-in that is a command", extism(true), "", abi.SourceInvalid, "replace Extism's PDK"},
		{"no entry", exports(0, "toolrun_abi_1"), "", abi.SourceInvalid, `"toolrun_run"`},
		{"an entry of another name", good, "main", abi.SourceInvalid, `set entry in the manifest to one of the exports: "toolrun_run"`},
		{"an entry without a result", exports(0, "toolrun_abi_1", "toolrun_run"), "", abi.SourceInvalid, "() -> (i32)"},
		{"no memory", without(binary.ExportSection, good), "", abi.SourceInvalid, "toolrun_abi_1"},
		{"a foreign import", plugin(imports("env.abort", 4)), "", abi.SourceInvalid, "--use abort="},
		{"a function of the browser", plugin(imports("gojs.runtime", 1)), "", abi.SourceInvalid, "GOOS=wasip1"},
		{"an unknown function", plugin(imports("toolrun.fetch", 2)), "", abi.SourceInvalid, `"toolrun.fetch", which this host does not provide`},
		{"an unknown operation", plugin(imports("memory.get_all", 2)), "", abi.SourceInvalid, "memory.get_all"},
		{"an unknown function of WASI", plugin(imports("wasi_snapshot_preview1.fd_fly", 2)), "", abi.SourceInvalid, "fd_fly"},
		{"another type", plugin(imports("toolrun.input_read", 2)), "", abi.SourceInvalid, "with type (i32, i32) -> (i32); expected (i32, i32, i32) -> (i32)"},
		{"the host's own module", plugin(imports("toolrun:fuel.yield", 0)), "", abi.SourceInvalid, "toolrun:fuel.yield"},
		{"invalid code", plugin(nil, wasmtest.Drop), "", abi.SourceInvalid, "not valid WebAssembly"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := newEngine(t).Load(t.Context(), engine.Source{Path: "p.wasm", Code: test.code, Entry: test.entry})
			f, ok := err.(*abi.Fault)
			if !ok || f.Code != test.fault || f.File != "p.wasm" {
				t.Fatalf("Load = %#v; want a fault %s of p.wasm", err, test.fault)
			}
			if strings.Contains(f.Hint, "could be its entry") && strings.Contains(f.Hint, `"toolrun_run"`) {
				t.Errorf("hint = %q; want nothing about the default entry", f.Hint)
			}
			if text := f.Message + " " + f.Hint; !strings.Contains(text, test.want) {
				t.Errorf("Load = %q; want %q in it", text, test.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	d, err := wasm.Describe(engine.Source{Path: "p.wasm", Code: plugin(imports("toolrun.log", 3))})
	if err != nil {
		t.Fatal(err)
	}
	if d.MemoryBytes != 65536 || strings.Join(d.Imports, " ") != "toolrun.log" || strings.Join(d.Exports, " ") != "memory toolrun_abi_1 toolrun_run" {
		t.Errorf("Describe = %+v", d)
	}
}
