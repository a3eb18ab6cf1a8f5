package js

import (
	"context"

	"github.com/toolrun/toolrun/host/engine"
)

// Engine runs JavaScript and TypeScript. It is safe for concurrent use.
type Engine struct {
	panicked func(value any, stack []byte)
}

var _ engine.Engine = (*Engine)(nil)

// Option configures an Engine.
type Option func(*Engine)

// WithPanicLog sets the function that receives the value and the stack of a recovered panic: a bug
// of this module, which the run reports as an internal fault, or a panic of goja, which the tool's
// code caused and which is reported as tool_error or source_invalid. Faults do not quote it. The
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

// Info describes the engine. Files with the other TypeScript extensions are read only to report
// that they cannot be imported.
func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: "js",
		Languages: []engine.Language{
			{Name: "javascript", Title: "JavaScript", Extensions: []string{".js", ".mjs"}},
			{Name: "typescript", Title: "TypeScript", Extensions: []string{".ts", ".mts"}},
		},
		Extensions: []string{".ts", ".mts", ".js", ".mjs", ".cjs"},
		Imports:    []string{".json", ".cts", ".jsx", ".tsx"},
	}
}

// Load bundles and compiles a source without running it. If the source cannot be loaded, the error
// is an *abi.Fault with code source_invalid.
//
// Load returns when ctx ends. The parsers and the compiler cannot be interrupted: they finish in
// the background, soon because of the bounds of a source, and the sandbox bounds them in any case.
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
