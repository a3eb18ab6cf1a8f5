package python

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// DefaultMemoryBytes bounds the memory of a run where its Limits do not, in bytes. It is more than of other engines:
// the interpreter itself takes about 25 MiB of it.
const DefaultMemoryBytes = 256 << 20

// MaxMemoryBytes is what a run can be given at most.
const MaxMemoryBytes = 2 << 30

// Engine runs Python tools. It is safe for concurrent use.
type Engine struct {
	runtime  func() ([]byte, error)
	cache    machine.Cache
	compiled string // a folder that holds the compiled interpreter
	panicked func(value any, stack []byte)
	full     bool // every run starts the interpreter anew

	turn        chan struct{} // holds an element while somebody has what follows
	interpreter *interpreter  // once it was needed
}

var (
	_ engine.Engine = (*Engine)(nil)
	_ engine.Sized  = (*Engine)(nil)

	_ engine.Preparer = (*Engine)(nil)
)

// Option changes an Engine.
type Option func(*Engine)

// WithRuntime says where the interpreter comes from: a function that returns CPython for WASI, one WebAssembly module
// with its standard library inside. It is called when the first tool is loaded, and again after it failed. Package
// distribution installs one, and reads it.
func WithRuntime(read func() ([]byte, error)) Option {
	return func(e *Engine) { e.runtime = read }
}

// WithCache keeps the compiled interpreter in a folder, which is made with mode 0700 if there is none: compiling takes
// seconds. One that others may write to, or that is another user's, is not used, nor is one that cannot be written. All
// of it may be deleted at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = machine.Cache{Dir: dir} }
}

// WithCompiled takes the interpreter as Compile left it in a folder, instead of a runtime and a cache. Nobody else may be
// able to write there.
func WithCompiled(dir string) Option {
	return func(e *Engine) { e.compiled = dir }
}

// WithPanicLog has panics of the engine itself told to a function. Each is a bug, whose run ends as internal. The
// function may be called by many goroutines.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New makes an Engine.
func New(options ...Option) *Engine {
	e := &Engine{runtime: noRuntime, panicked: func(any, []byte) {}, turn: make(chan struct{}, 1)}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine.
func (*Engine) Info() engine.Info {
	return engine.Info{
		Name:       "python",
		Languages:  []engine.Language{{Name: "python", Title: "Python", Extensions: []string{".py"}}},
		Extensions: []string{".py"},
	}
}

// MemoryBytes is DefaultMemoryBytes, as for each run whose limits say nothing of it.
func (*Engine) MemoryBytes() int64 { return DefaultMemoryBytes }

// Prepared reports whether the compiled interpreter is there, or cannot be made. It reads the runtime for that.
func (e *Engine) Prepared() bool {
	if e.compiled != "" {
		return true
	}
	code, err := e.runtime()
	if err != nil {
		return true
	}
	return e.cache.Has(entryName(code))
}

// Start starts the interpreter, which the first Load does otherwise. The error is a fault of Load.
func (e *Engine) Start(ctx context.Context) (err error) {
	defer e.recovered(&err)
	_, err = e.started(ctx)
	return err
}

// Load compiles a tool and the modules of its folder that it may import. The first Load starts the interpreter, which
// takes half a second, or several where the cache does not hold it. A tool that cannot be loaded is an *abi.Fault with
// code source_invalid; so is any tool where there is no runtime, and the fault says what to do.
func (e *Engine) Load(ctx context.Context, src engine.Source) (loaded engine.Program, err error) {
	defer e.recovered(&err)
	i, err := e.started(ctx)
	if err != nil {
		return nil, named(src, err)
	}
	p, err := load(ctx, e, i, src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close frees the interpreter. Programs are closed before; closing twice is fine.
func (e *Engine) Close() error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	i := e.interpreter
	if e.interpreter = nil; i == nil {
		return nil
	}
	return i.close()
}

// started returns the interpreter, which it starts if it must.
func (e *Engine) started(ctx context.Context) (*interpreter, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, engine.EndOf(ctx)
	}
	if e.interpreter != nil {
		return e.interpreter, nil
	}
	m, err := e.compiledMachine(ctx)
	if err != nil {
		return nil, err
	}
	i := &interpreter{machine: m}
	switch {
	case e.full:
		err = i.load()
	case e.compiled != "" && i.resume(ctx, e.compiled):
	default:
		err = i.boot(ctx)
	}
	if err != nil {
		_ = i.close() // why it does not start says more
		return nil, err
	}
	e.interpreter = i
	return i, nil
}

// compiledMachine returns the compiled interpreter.
func (e *Engine) compiledMachine(ctx context.Context) (*machine.Machine, error) {
	if e.compiled != "" {
		return openCompiled(ctx, e.compiled)
	}
	code, err := e.runtime()
	if err != nil {
		return nil, unreadable(err)
	}
	return compileCached(ctx, e.cache, code)
}

const hintRuntime = "toolrun python install gets one; --python-wasm FILE names one"

func noRuntime() ([]byte, error) {
	return nil, abi.Faultf(abi.Unavailable, "there is no Python runtime to run it with").WithHint(hintRuntime)
}
