package wasm

import (
	"context"
	"sync"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// Engine runs plug-ins. It is safe for concurrent use.
type Engine struct {
	cache    machine.Cache
	panicked func(value any, stack []byte)

	mu      sync.Mutex
	plugins map[string]*plugin // those that programs use
}

var _ engine.Engine = (*Engine)(nil)

// Option changes an Engine.
type Option func(*Engine)

// WithPanicLog has panics of the engine itself told to a function. Each is a bug, whose run ends as internal.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New makes an engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine. Its sources are not text, so it has no language.
func (*Engine) Info() engine.Info {
	return engine.Info{Name: "wasm", Extensions: []string{".wasm"}}
}

// Load checks a plug-in, makes it stoppable and compiles it, which takes about a second for 3 MB. A plug-in that
// the host will not run is an *abi.Fault with code source_invalid, one of another version of the ABI is
// abi_mismatch.
func (e *Engine) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	return load(ctx, e, src)
}
