// Package languages are the languages whose tools toolrun runs: JavaScript, TypeScript and WebAssembly.
//
// A program that runs tools calls [Main] first of all in main and makes its engines with [NewPool]: then every guest runs
// in a cell, a locked-down process of its own. [InProcess] has the same engines without that wall, for who trusts
// the tools.
package languages

import (
	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// wasmStackBytes is what wazero takes for the stack of a guest that calls as deep as it may, while it grows.
const wasmStackBytes = 128 << 20

// All returns every language as cells run it.
func All() []cell.Language {
	return []cell.Language{
		{New: func(s cell.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }},
		{Artefacts: true, Prepare: wasm.Prepare, ExtraBytes: wasmStackBytes, New: func(s cell.Setup) engine.Engine {
			return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
		}},
	}
}

// Main makes this process a cell where it was started as one, and does not return then; otherwise it does nothing. A
// program that calls NewPool calls it first of all in main, and its tests in TestMain.
func Main() { cell.Main(All()...) }

// NewPool makes a pool of cells for every language; Options.Languages is not looked at. Its Engines are what
// host.Options wants; it is closed after the host.
func NewPool(options cell.Options) (*cell.Pool, error) {
	options.Languages = All()
	return cell.New(options)
}

// InProcessOptions are what engines without cells are made of. The zero value is fine.
type InProcessOptions struct {
	// CacheDir is where compiled plug-ins are kept. Default: they are not.
	CacheDir string
	// Panicked takes what a panic of an engine left behind, which is a bug of it. Default: it is lost.
	Panicked func(engine string, value any, stack []byte)
}

// InProcess returns an engine for every language that runs its guests in this process. There is one wall less: a
// guest can make the process run out of memory, or hang it, in ways that no engine can hinder, and a bug of an engine
// is a hole. Every Result says so, as a warning.
func InProcess(options InProcessOptions) []engine.Engine {
	panicked := func(name string) func(any, []byte) {
		return func(value any, stack []byte) {
			if options.Panicked != nil {
				options.Panicked(name, value, stack)
			}
		}
	}
	return []engine.Engine{
		js.New(js.WithPanicLog(panicked("JavaScript"))),
		wasm.New(wasm.WithPanicLog(panicked("WebAssembly")), wasm.WithCache(options.CacheDir)),
	}
}
