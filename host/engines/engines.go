// Package engines are the languages whose tools toolrun runs: JavaScript and TypeScript, WebAssembly, and Python.
//
// A program that runs tools calls [Main] first of all in main and makes its engines with [NewPool]: then every guest runs
// in a cell, a locked-down process of its own. [InProcess] has the same engines without that wall, for who trusts
// the tools.
//
// Python runs on an interpreter that is no part of this module: package distribution installs one, [WithPython] names it.
package engines

import (
	"runtime"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/host/sandbox"
)

// Main makes this process a cell where it was started as one, and does not return then; otherwise it does nothing. A
// program that calls NewPool or NewDocumentPool calls it first of all in main, and its tests in TestMain.
func Main() { sandbox.Main(append(all(choices{}), documents())...) }

// NewPool makes a pool of cells for every language; sandbox.Options.Languages is not looked at. Its Engines are what
// host.Options wants; it is closed after the host.
func NewPool(cells sandbox.Options, options ...Option) (*sandbox.Pool, error) {
	cells.Languages = all(choose(options))
	return sandbox.New(cells)
}

// UTC is the time zone that tools have in cells.
var UTC = engine.UTC

// InProcess returns an engine for every language that runs its guests in this process. There is one wall less: a
// guest can make the process run out of memory, or hang it, in ways that no engine can hinder, and a bug of an engine
// is a hole. Every Result says so, as a warning.
//
// JavaScript's dates are then in the process's local time zone. A program sets time.Local to UTC at its start to have them
// in UTC, as they are in cells.
func InProcess(options ...Option) []engine.Engine {
	c := choose(options)
	panicked := func(name string) func(any, []byte) {
		return func(value any, stack []byte) {
			if c.panicked != nil {
				c.panicked(name, value, stack)
			}
		}
	}
	return []engine.Engine{
		js.New(js.WithPanicLog(panicked("JavaScript"))),
		wasm.New(wasm.WithPanicLog(panicked("WebAssembly")), wasm.WithCache(c.cacheDir)),
		python.New(python.WithPanicLog(panicked("Python")), python.WithCache(c.cacheDir), python.WithRuntime(c.readPython)),
	}
}

// all returns every language as cells run it.
func all(c choices) []sandbox.Language {
	return []sandbox.Language{
		{New: func(s sandbox.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }},
		{Unsound: unsound(runtime.GOARCH), Artefacts: true, MemoryFiles: true, Prepare: wasm.Prepare, ExtraBytes: wasmStackBytes, New: func(s sandbox.Setup) engine.Engine {
			return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
		}},
		pythonLanguage(c.python),
	}
}

// unsound says why the compiler of WebAssembly, which Python needs too, cannot be trusted on a processor; "" where it can.
func unsound(arch string) string {
	if arch == "arm64" {
		return "the compiler of WebAssembly (wazero 1.12) computes wrong values on arm64, which nothing shows to be harmless"
	}
	return ""
}

// wasmStackBytes is what wazero takes for the stack of a guest that calls as deep as it may, while it grows.
const wasmStackBytes = 128 << 20
