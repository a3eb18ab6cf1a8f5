package engines

import (
	"runtime"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/host/sandbox"
)

//go:generate go run ./generate ../app/extensions.go

// entry contains two ways to create a bundled engine: in a worker, and in this process.
type entry struct {
	title     string // the name of the engine in the log of panics
	sandboxed func(choices) sandbox.Language
	inProcess func(c choices, panicked func(value any, stack []byte)) engine.Engine
}

// table returns the bundled engines. No other list contains the bundled engines. The Info of each
// engine contains its languages and file extensions. After you change the table, run go generate to
// update the default of app.Loader.
func table() []entry {
	return []entry{
		{"JavaScript", jsLanguage, func(_ choices, panicked func(any, []byte)) engine.Engine {
			return js.New(js.WithPanicLog(panicked))
		}},
		{"Python", pythonLanguage, func(c choices, panicked func(any, []byte)) engine.Engine {
			return python.New(python.WithPanicLog(panicked), python.WithCache(c.cacheDir), python.WithRuntime(c.readPython))
		}},
		{"WebAssembly", wasmLanguage, func(c choices, panicked func(any, []byte)) engine.Engine {
			return wasm.New(wasm.WithPanicLog(panicked), wasm.WithCache(c.cacheDir))
		}},
	}
}

// Infos returns the descriptions of the bundled engines. Infos starts no engine.
func Infos() []engine.Info { return engine.Infos(InProcess()) }

// sandboxed returns the engines for workers.
func sandboxed(c choices) (all []sandbox.Language) {
	for _, e := range table() {
		all = append(all, e.sandboxed(c))
	}
	return all
}

func jsLanguage(choices) sandbox.Language {
	return sandbox.Language{New: func(s sandbox.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }}
}

func wasmLanguage(choices) sandbox.Language {
	return sandbox.Language{
		Unsound: unsound(runtime.GOARCH), CacheCode: true, MemoryFiles: true, BeforeLockdown: wasm.Prepare, ExtraBytes: wasmStackBytes,
		New: func(s sandbox.Setup) engine.Engine {
			return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
		},
	}
}

// unsound returns the reason why the WebAssembly compiler, which plug-ins and Python need, is not
// safe on a processor architecture. If the compiler is safe, unsound returns "".
func unsound(arch string) string {
	if arch == "arm64" {
		return "the WebAssembly compiler (wazero 1.12) computes wrong values on arm64, which could break the isolation"
	}
	return ""
}

// wasmStackBytes is the memory that wazero needs to grow the stack of a guest that uses the maximum
// call depth.
const wasmStackBytes = 128 << 20
