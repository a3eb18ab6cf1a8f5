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

// Option changes how an Engine behaves.
type Option func(*Engine)

// WithPanicLog hands over what a panic inside the engine left behind: a bug of ours, which the run answers with an
// internal fault, or one of goja's, which the tool's code led into and which is told as tool_error or source_invalid.
// The fault quotes none of it. The function may be called by many goroutines.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New makes an Engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine. Files of the other extensions that TypeScript has are read in order to say that they cannot be
// imported.
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

// Load bundles and compiles a source. It runs none of it. A source that cannot be loaded is an *abi.Fault with
// code source_invalid.
//
// It returns when ctx ends. The parsers and the compiler cannot be stopped: what they still do then ends on its own, which
// the bounds of a source make soon, and which the process wall makes certain.
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
		return nil, engine.EndOf(ctx)
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
