package wasm

import (
	"context"
	"sync"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// Engine runs plug-ins. Engine is safe for concurrent use.
type Engine struct {
	cache    machine.Cache
	panicked func(value any, stack []byte)

	mu      sync.Mutex
	plugins map[string]*plugin // the plug-ins of open programs
}

var _ engine.Engine = (*Engine)(nil)

// Option configures an Engine.
type Option func(*Engine)

// WithPanicLog sets a function that logs panics in the engine's own code. Each such panic is a bug.
// A run in which the engine panics fails with the code "internal".
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New returns an engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine. The engine has no language, because plug-ins are not source text.
func (*Engine) Info() engine.Info {
	return engine.Info{Name: "wasm", Extensions: []string{".wasm"}}
}

// Load checks a plug-in, makes it interruptible and compiles it. The compilation of a plug-in of 3
// MB takes about one second. The error is an *abi.Fault. If the plug-in has an unsupported ABI
// version, the code of the fault is abi_mismatch. If the engine rejects the plug-in for another
// reason, the code is source_invalid.
func (e *Engine) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	return load(ctx, e, src)
}
