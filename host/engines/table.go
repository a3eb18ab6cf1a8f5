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

// entry is an engine of toolrun: how it is made in a worker, and in this process.
type entry struct {
	title     string // for the log of panics
	sandboxed func(choices) sandbox.Language
	inProcess func(c choices, panicked func(value any, stack []byte)) engine.Engine
}

// table returns the engines of toolrun. It is the only list of them: what else there is to know of an engine, such as its
// languages and the extensions of its files, is in its Info. After a change, go generate writes the default of app.Loader.
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

// Infos returns what there is to know of the engines of toolrun. It starts none.
func Infos() []engine.Info { return engine.Infos(InProcess()) }

// sandboxed returns the engines as workers run them.
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
		Unsound: unsound(runtime.GOARCH), Artefacts: true, MemoryFiles: true, Prepare: wasm.Prepare, ExtraBytes: wasmStackBytes,
		New: func(s sandbox.Setup) engine.Engine {
			return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
		},
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
