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

// The names of what a plug-in exports.
const (
	markerPrefix = "toolrun_abi_"
	marker       = markerPrefix + "1"
	defaultEntry = "toolrun_run" // where the manifest names nothing
	initialise   = "_initialize"
	command      = "_start"
	memoryExport = "memory"
)

// inspect reads a plug-in and checks that it is one, before wazero sees a byte of it.
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

// inspectEntry checks that a plug-in has an entry.
func inspectEntry(m *binary.Module, entry string) error {
	c := &checker{Module: m}
	if _, ok := c.Export(entry); !ok {
		return abi.Faultf(abi.SourceInvalid, "it does not export its entry %s", quote(entry)).WithHint("%s", c.entryHint())
	}
	return c.checkExport(entry, entryType)
}

// named gives a fault of the source its file.
func named(src engine.Source, err error) error {
	f, ok := err.(*abi.Fault)
	if !ok {
		return err
	}
	g := *f
	g.Message, g.File = src.Path+": "+f.Message, src.Path
	return &g
}

// unreadable is the fault of what binary.Parse refused.
func unreadable(err error) *abi.Fault {
	return abi.Faultf(abi.SourceInvalid, "%v", err)
}

// checker looks at what a module shows the host.
type checker struct {
	*binary.Module
	table abi.Table
}

// extismModule is the module that a plug-in built for Extism imports from.
const extismModule = "extism:host/env"

// checkOrigin recognises plug-ins of other systems.
func (c *checker) checkOrigin() *abi.Fault {
	if !slices.ContainsFunc(c.Imports, func(i binary.Import) bool { return i.Module == extismModule }) {
		return nil
	}
	return abi.Faultf(abi.SourceInvalid, "it is an Extism plug-in: it imports %s, which this host does not have", quote(extismModule)).
		WithHint("build its code with a binding of abi/guest in place of Extism's PDK: input, output and log have counterparts; memory.get_content and set_content replace variables; there is no HTTP")
}

// checkVersion looks for the marker of a version that this host speaks.
func (c *checker) checkVersion() *abi.Fault {
	if _, ok := c.Export(command); ok {
		return abi.Faultf(abi.SourceInvalid, "it is a command, which runs once and ends, and not a plug-in").WithHint("%s", c.commandHint())
	}
	if e, ok := c.Export(marker); ok {
		if got := c.signature(e); got != "() -> ()" {
			return abi.Faultf(abi.SourceInvalid, "it exports %s as %s, which is to be a function () -> ()", quote(marker), got)
		}
		return nil
	}
	for _, e := range c.Exports {
		if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok {
			return abi.Faultf(abi.ABIMismatch, "it was built for version %s of the ABI, and this host speaks version %d", quote(version), abi.Version).
				WithHint("build it with a binding of version %d, or use a newer host", abi.Version)
		}
	}
	return abi.Faultf(abi.SourceInvalid, "it is no toolrun plug-in: it does not export %s", marker).
		WithHint("build it with one of the bindings in abi/guest, or export the marker yourself: abi/ABI.md says how")
}

// commandHint says how to build a plug-in in place of a command. One that exports entries, as those built by TinyGo do,
// lacks only the way of building.
func (c *checker) commandHint() string {
	const reactor = "build a reactor: with -buildmode=c-shared in Go and TinyGo (0.34 or newer), -mexec-model=reactor in C, crate-type cdylib in Rust"
	names := c.entries()
	if len(names) == 0 || slices.Contains(names, quote(defaultEntry)) { // which needs no naming
		return reactor
	}
	return reactor + "; it exports what could be its entry, to be named as entry in the manifest: " + strings.Join(names[:min(len(names), 10)], ", ")
}

// checkImports allows what the ABI has.
func (c *checker) checkImports() *abi.Fault {
	for _, i := range c.Imports {
		name := quote(i.Module + "." + i.Name)
		if i.Kind != binary.ExternFunc {
			return abi.Faultf(abi.SourceInvalid, "it imports the %s %s, and a host gives functions alone", i.Kind, name)
		}
		want, known, ok := c.provided(i)
		switch {
		case !ok:
			return abi.Faultf(abi.SourceInvalid, "it imports %s, and a host gives the modules %s, %s and %s alone", name, runModule, memoryModule, wasi.ModuleName).
				WithHint("%s", importHint(i))
		case !known:
			return abi.Faultf(abi.SourceInvalid, "it imports %s, which this host does not have", name).WithHint("a newer host may have it")
		}
		if got := c.Types[i.Type].String(); got != want {
			return abi.Faultf(abi.SourceInvalid, "it imports %s as %s, which is %s", name, got, want)
		}
	}
	return nil
}

// provided returns the type of what the host gives under an import's name: known says whether it gives that, ok
// whether it gives anything of that module.
func (c *checker) provided(i binary.Import) (signature string, known, ok bool) {
	switch i.Module {
	case runModule:
		return signatureOf(runFunctions, i.Name)
	case memoryModule:
		return signatureOf(memoryFunctions(c.table), i.Name)
	case wasi.ModuleName:
		params, results, known := wasi.Signature(i.Name)
		return binary.FuncType{Params: valueTypes(params), Results: valueTypes(results)}.String(), known, true
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

// importHint says what most likely went wrong where a module of that name is imported.
func importHint(i binary.Import) string {
	switch {
	case i.Module == "env" && i.Name == "abort":
		return "AssemblyScript: build with --use abort= and the binding's own, as abi/guest/assemblyscript shows"
	case i.Module == "env" && (i.Name == "seed" || strings.HasPrefix(i.Name, "Date.") || strings.HasPrefix(i.Name, "console.")):
		return "AssemblyScript takes Math.random, Date and console from a browser, which is not here: the binding has log, and WASI has clocks and random numbers"
	case i.Module == "env":
		return "a function is declared and nowhere defined: link what defines it, or name the import module"
	case i.Module == "gojs" || i.Module == "go":
		return "it was built with GOOS=js: build with GOOS=wasip1"
	case strings.Contains(i.Module, "wbg") || strings.HasPrefix(i.Module, "__wbindgen"):
		return "it was built by wasm-bindgen for a browser: build for wasm32-wasip1, or wasm32-unknown-unknown without it"
	case i.Module == "wasi_unstable":
		return "it was built for an older WASI: build for wasm32-wasip1"
	case strings.HasPrefix(i.Module, "wasi:"):
		return "it was built for WASI preview 2: build for wasm32-wasip1"
	}
	return "a tool reaches nothing but its memory; abi/ABI.md lists what there is"
}

func (c *checker) checkMemory() *abi.Fault {
	if e, ok := c.Export(memoryExport); !ok || e.Kind != binary.ExternMemory {
		return abi.Faultf(abi.SourceInvalid, "it does not export its memory as %s", quote(memoryExport))
	}
	return nil
}

// entryType is the type of an entry.
const entryType = "() -> (i32)"

// checkExport checks the type of a function that the host calls, where there is such an export.
func (c *checker) checkExport(name, want string) error {
	e, ok := c.Export(name)
	if !ok {
		return nil
	}
	if got := c.signature(e); got != want {
		return abi.Faultf(abi.SourceInvalid, "it exports %s as %s, which is to be a function %s", quote(name), got, want)
	}
	return nil
}

func (c *checker) signature(e binary.Export) string {
	if e.Kind != binary.ExternFunc {
		return e.Kind.String()
	}
	return c.Types[c.Funcs[e.Index]].String()
}

// entryHint names the exports that could be an entry.
func (c *checker) entryHint() string {
	names := c.entries()
	if len(names) == 0 {
		return "export a function () -> i32 under that name"
	}
	return "it exports what could be one, to be named as entry in the manifest: " + strings.Join(names[:min(len(names), 10)], ", ")
}

// entries are the names of the exports that have the type of an entry.
func (c *checker) entries() (names []string) {
	for _, e := range c.Exports {
		if c.signature(e) == entryType {
			names = append(names, quote(e.Name))
		}
	}
	return names
}

// quote shows a name of a stranger's.
func quote(name string) string { return `"` + cut([]byte(name), maxNameBytes) + `"` }
