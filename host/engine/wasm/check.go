package wasm

import (
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// The names of a plug-in's exports.
const (
	markerPrefix = "toolrun_abi_"
	marker       = markerPrefix + "1"
	defaultEntry = "toolrun_run" // used if the tool's manifest names no entry
	initialise   = "_initialize"
	command      = "_start"
	memoryExport = "memory"
)

// inspect parses a module and checks that it is a plug-in. The engine calls inspect before wazero
// reads the module.
func inspect(code []byte, table abi.Table) (*binary.Module, error) {
	m, err := binary.Parse(code, limits)
	if err != nil {
		return nil, unreadable(err)
	}
	c := &checker{Module: m, table: table}
	for _, check := range []func() *abi.Fault{c.checkOrigin, c.checkVersion, c.checkImports, c.checkMemory} {
		if f := check(); f != nil {
			return nil, f
		}
	}
	return m, c.checkExport(initialise, "() -> ()")
}

// inspectEntry checks that a plug-in exports the entry of the tool.
func inspectEntry(m *binary.Module, entry string) error {
	c := &checker{Module: m}
	if _, ok := c.Export(entry); !ok {
		return abi.Faultf(abi.SourceInvalid, "the plug-in does not export the entry function %s", quote(entry)).WithHint("%s", c.entryHint())
	}
	return c.checkExport(entry, entryType)
}

// named adds the name of the source file to a fault.
func named(src engine.Source, err error) error {
	f, ok := err.(*abi.Fault)
	if !ok {
		return err
	}
	g := *f
	g.Message, g.File = src.Path+": "+f.Message, src.Path
	return &g
}

// unreadable returns the fault for a module that binary.Parse has rejected.
func unreadable(err error) *abi.Fault {
	return abi.Faultf(abi.SourceInvalid, "%v", err)
}

// checker checks the imports and exports of a module.
type checker struct {
	*binary.Module
	table abi.Table
}

// extismModule is the module from which plug-ins for Extism, another plug-in system, import
// functions.
const extismModule = "extism:host/env"

// checkOrigin rejects plug-ins that were built for other plug-in systems.
func (c *checker) checkOrigin() *abi.Fault {
	if !slices.ContainsFunc(c.Imports, func(i binary.Import) bool { return i.Module == extismModule }) {
		return nil
	}
	return abi.Faultf(abi.SourceInvalid, "the module is an Extism plug-in: the module imports %s, which this host does not provide", quote(extismModule)).
		WithHint("replace Extism's PDK with a binding of abi/guest: use `memory.get_content` and `memory.set_content` instead of variables; HTTP is not available")
}

// checkVersion checks that the plug-in exports the marker of a supported ABI version.
func (c *checker) checkVersion() *abi.Fault {
	if _, ok := c.Export(command); ok {
		return abi.Faultf(abi.SourceInvalid, "the module is a command, not a plug-in: a command runs once and exits").WithHint("%s", c.commandHint())
	}
	if e, ok := c.Export(marker); ok {
		if got := c.signature(e); got != "() -> ()" {
			return abi.Faultf(abi.SourceInvalid, "the export %s has type %s; expected a function () -> ()", quote(marker), got)
		}
		return nil
	}
	for _, e := range c.Exports {
		if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok {
			return abi.Faultf(abi.ABIMismatch, "the plug-in was built for ABI version %s; this host supports version %d", quote(version), abi.Version).
				WithHint("build the plug-in with a binding of version %d, or use a newer host", abi.Version)
		}
	}
	return abi.Faultf(abi.SourceInvalid, "the module is not a toolrun plug-in, because the module does not export %s", marker).
		WithHint("build the module with a binding of abi/guest, or export the marker described in abi/ABI.md")
}

// commandHint returns a hint for a WASI command. The hint describes how to rebuild the command as a
// plug-in, and lists exported functions that could be entries. TinyGo builds such commands.
func (c *checker) commandHint() string {
	const reactor = "build a reactor: with -buildmode=c-shared in Go and TinyGo (0.34 or newer), -mexec-model=reactor in C, crate-type cdylib in Rust"
	names := c.entries()
	if len(names) == 0 || slices.Contains(names, quote(defaultEntry)) { // no name is needed
		return reactor
	}
	return reactor + "; to use another export, set entry in the manifest to one of: " + strings.Join(names[:min(len(names), 10)], ", ")
}

// checkImports checks that the host provides all imports of the plug-in.
func (c *checker) checkImports() *abi.Fault {
	for _, i := range c.Imports {
		name := quote(i.Module + "." + i.Name)
		if i.Kind != binary.ExternFunc {
			return abi.Faultf(abi.SourceInvalid, "the plug-in imports the %s %s; a host provides only functions", i.Kind, name)
		}
		want, known, ok := c.provided(i)
		switch {
		case !ok:
			return abi.Faultf(abi.SourceInvalid, "the plug-in imports %s; a host provides only the modules %s, %s and %s", name, runModule, strings.Join(operationModules(c.table), ", "), wasi.ModuleName).
				WithHint("%s", importHint(i))
		case !known:
			return abi.Faultf(abi.SourceInvalid, "the plug-in imports %s, which this host does not provide", name).WithHint("try a newer host")
		}
		if got := c.Types[i.Type].String(); got != want {
			return abi.Faultf(abi.SourceInvalid, "the plug-in imports %s with type %s; expected %s", name, got, want)
		}
	}
	return nil
}

// provided returns the type of a host function that a plug-in imports. The result "known" is true
// if the host provides the function. The result ok is true if the host provides the module of the
// function.
func (c *checker) provided(i binary.Import) (signature string, known, ok bool) {
	switch i.Module {
	case runModule:
		return signatureOf(runFunctions, i.Name)
	case wasi.ModuleName:
		params, results, known := wasi.Signature(i.Name)
		return binary.FuncType{Params: valueTypes(params), Results: valueTypes(results)}.String(), known, true
	}
	if slices.Contains(operationModules(c.table), i.Module) {
		return signatureOf(operationFunctions(c.table, i.Module), i.Name)
	}
	return "", false, false
}

func signatureOf(functions []function, name string) (signature string, known, ok bool) {
	at := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
	if at < 0 {
		return "", false, true
	}
	i32 := binary.ValueType(api.ValueTypeI32)
	return binary.FuncType{Params: slices.Repeat([]binary.ValueType{i32}, functions[at].params), Results: []binary.ValueType{i32}}.String(), true, true
}

func valueTypes(types []api.ValueType) []binary.ValueType {
	out := make([]binary.ValueType, len(types))
	for i, t := range types {
		out[i] = binary.ValueType(t)
	}
	return out
}

// importHint returns a hint for an import that the host does not provide. The hint describes the
// most likely cause.
func importHint(i binary.Import) string {
	switch {
	case i.Module == "env" && i.Name == "abort":
		return "build AssemblyScript with --use abort= and the binding's function, as in abi/guest/assemblyscript"
	case i.Module == "env" && (i.Name == "seed" || strings.HasPrefix(i.Name, "Date.") || strings.HasPrefix(i.Name, "console.")):
		return "replace Math.random, Date and console, which AssemblyScript imports from a browser, with the binding's log and with WASI"
	case i.Module == "env":
		return "link the definition of the function, or set its import module"
	case i.Module == "gojs" || i.Module == "go":
		return "build with GOOS=wasip1 instead of GOOS=js"
	case strings.Contains(i.Module, "wbg") || strings.HasPrefix(i.Module, "__wbindgen"):
		return "build for wasm32-wasip1, or for wasm32-unknown-unknown without wasm-bindgen"
	case i.Module == "wasi_unstable":
		return "build for wasm32-wasip1 instead of an older WASI version"
	case strings.HasPrefix(i.Module, "wasi:"):
		return "build for wasm32-wasip1 instead of WASI preview 2"
	}
	return "use only the functions listed in abi/ABI.md"
}

func (c *checker) checkMemory() *abi.Fault {
	if e, ok := c.Export(memoryExport); !ok || e.Kind != binary.ExternMemory {
		return abi.Faultf(abi.SourceInvalid, "the plug-in does not export its memory as %s", quote(memoryExport))
	}
	return nil
}

// entryType is the type that every entry must have.
const entryType = "() -> (i32)"

// checkExport checks the type of an exported function that the host calls. The export is optional.
func (c *checker) checkExport(name, want string) error {
	e, ok := c.Export(name)
	if !ok {
		return nil
	}
	if got := c.signature(e); got != want {
		return abi.Faultf(abi.SourceInvalid, "the export %s has type %s; expected a function %s", quote(name), got, want)
	}
	return nil
}

func (c *checker) signature(e binary.Export) string {
	if e.Kind != binary.ExternFunc {
		return e.Kind.String()
	}
	return c.Types[c.Funcs[e.Index]].String()
}

// entryHint returns a hint that lists the exports that could be the entry.
func (c *checker) entryHint() string {
	names := c.entries()
	if len(names) == 0 {
		return "export a function () -> i32 with this name"
	}
	return "set entry in the manifest to one of the exports: " + strings.Join(names[:min(len(names), 10)], ", ")
}

// entries returns the names of the exports that have the type of an entry.
func (c *checker) entries() (names []string) {
	for _, e := range c.Exports {
		if c.signature(e) == entryType {
			names = append(names, quote(e.Name))
		}
	}
	return names
}

// quote quotes a name from an untrusted module.
func quote(name string) string { return `"` + cut([]byte(name), maxNameBytes) + `"` }
