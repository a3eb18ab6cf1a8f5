package js

import (
	"context"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
)

// Engine runs tools that are written in JavaScript or TypeScript. An Engine is safe for concurrent
// use.
type Engine struct {
	panicked func(value any, stack []byte)
}

var _ engine.Engine = (*Engine)(nil)

// Option configures an Engine.
type Option func(*Engine)

// WithPanicLog sets a function. For each panic that the engine recovers, this function receives the
// value and the stack of the panic. If code of toolrun panics, this is a bug, and the fault of the
// run is an internal fault. If goja panics, the code of the tool is the cause. The fault of the run
// then has the code tool_error or source_invalid. A fault never contains the value of a panic. The
// function must be safe for concurrent use.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New returns an Engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine. Files with the extensions .jsx and .tsx cannot be imported. The engine
// reads such a file only to report this.
func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: "js",
		Languages: []engine.Language{
			{Name: "javascript", Title: "JavaScript", Extensions: []string{".js", ".mjs"}},
			{Name: "typescript", Title: "TypeScript", Extensions: []string{".ts", ".mts"}},
			{Name: "machine", Title: "Machine", Extensions: []string{machine.Extension}},
		},
		Extensions: []string{".ts", ".mts", ".js", ".mjs", ".cjs", machine.Extension},
		Imports:    []string{".json", ".cts", ".jsx", ".tsx"},
	}
}

// Load bundles and compiles a source. It does not run the source. If a source cannot be loaded, the
// error is an *abi.Fault with the code source_invalid.
//
// If ctx ends while Load is working, Load returns at once. The parsers and the compiler cannot be
// interrupted. Therefore, they continue in the background. The size of a source is limited, so the
// parsers end soon. In any case, the sandbox limits the processor time that the parsers and the
// compiler use.
func (e *Engine) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	type outcome struct {
		program engine.Program
		err     error
	}
	loaded := make(chan outcome, 1)
	go func() {
		program, err := e.load(ctx, src)
		loaded <- outcome{program, err}
	}()
	select {
	case o := <-loaded:
		return o.program, o.err
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
}

func (e *Engine) load(ctx context.Context, src engine.Source) (program engine.Program, err error) {
	defer e.recovered(&err, func() error { return unreadable(src.Path) })
	s, err := buildScript(ctx, src)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(e, src, s)
	if err != nil {
		return nil, err
	}
	return p, nil
}
