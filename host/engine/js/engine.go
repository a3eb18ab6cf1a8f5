package js

import (
	"context"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
)

// Engine runs JavaScript and TypeScript. Engine is safe for concurrent use.
type Engine struct {
	panicked func(value any, stack []byte)
}

var _ engine.Engine = (*Engine)(nil)

// Option configures an Engine.
type Option func(*Engine)

// WithPanicLog sets a function that receives the value and the stack of each recovered panic. A
// panic in code of toolrun is a bug, and the run reports an internal fault. A panic in goja is
// caused by the tool's code, and the fault of the run has the code tool_error or source_invalid.
// Faults do not contain the panic value. The function that receives the panics must be safe for
// concurrent use.
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

// Info describes the engine. The engine reads files with the extensions below only to report that
// they cannot be imported.
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

// Load bundles and compiles a source without running it. If the source cannot be loaded, the error
// is an *abi.Fault with the code source_invalid.
//
// If ctx ends during Load, Load returns at once. The parsers and the compiler cannot be
// interrupted, so they continue in the background. The parsers finish soon, because the size of a
// source is limited. The sandbox limits the processor time of the parsers and the compiler in any
// case.
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
