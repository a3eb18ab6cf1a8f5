package python

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// DefaultMemoryBytes is the default memory limit of a run in bytes. The default limit of other
// engines is lower. The Python interpreter itself uses about 25 MiB.
const DefaultMemoryBytes = 256 << 20

// MaxMemoryBytes is the highest allowed memory limit of a run in bytes.
const MaxMemoryBytes = 2 << 30

// Engine runs Python tools. Engine is safe for concurrent use.
type Engine struct {
	runtime  func() ([]byte, error)
	cache    machine.Cache
	compiled string // the folder of a prebuilt interpreter, or ""
	panicked func(value any, stack []byte)
	full     bool // true if every run starts its own interpreter

	lock        chan struct{} // a mutex; guards the interpreter
	interpreter *interpreter  // nil until a tool first needs an interpreter
}

var (
	_ engine.Engine          = (*Engine)(nil)
	_ engine.MemoryDefaulter = (*Engine)(nil)

	_ engine.Preparer = (*Engine)(nil)
)

// Option changes an Engine.
type Option func(*Engine)

// WithRuntime sets the function that returns the interpreter. The interpreter is CPython for WASI,
// as one WebAssembly module that contains its standard library. The engine calls the function when
// it loads the first tool. If the function fails, the engine calls it again for the next tool.
// Package distribution installs and reads the interpreter.
func WithRuntime(read func() ([]byte, error)) Option {
	return func(e *Engine) { e.runtime = read }
}

// WithCache caches the compiled interpreter in a folder. Without a cache, each process compiles the
// interpreter, which takes seconds. The engine creates the folder with mode 0700 if the folder does
// not exist. The engine ignores the folder in three cases: the folder belongs to another user,
// other users can write to the folder, or the engine cannot write to the folder. You can delete the
// files in the folder at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = machine.Cache{Dir: dir} }
}

// WithCompiled makes the engine use the interpreter that Compile wrote to a folder. The engine then
// needs neither a runtime nor a cache. Other users must not be able to write to the folder.
func WithCompiled(dir string) Option {
	return func(e *Engine) { e.compiled = dir }
}

// WithPanicLog sets a function that receives panics in the engine's own code. Each such panic is a
// bug. A run in which the engine panics fails with the code "internal". The function that receives
// the panics must be safe for concurrent use.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New creates an Engine.
func New(options ...Option) *Engine {
	e := &Engine{runtime: noRuntime, panicked: func(any, []byte) {}, lock: make(chan struct{}, 1)}
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

// MemoryBytes returns DefaultMemoryBytes, the default memory limit of a run.
func (*Engine) MemoryBytes() int64 { return DefaultMemoryBytes }

// Prepared reports whether the next Load can skip the compilation of the interpreter. This is the
// case if the interpreter has already been compiled, or if it cannot be compiled. Prepared reads
// the runtime.
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

// Start starts the interpreter. If Start is not called, the first Load starts the interpreter.
// Start returns the same errors as Load.
func (e *Engine) Start(ctx context.Context) (err error) {
	defer e.recovered(&err)
	_, err = e.started(ctx)
	return err
}

// Load compiles a tool. Load also compiles the modules in the tool's folder that the tool can
// import. The first call to Load starts the interpreter, which takes half a second. If the cache
// does not contain the compiled interpreter, the first call takes several seconds. If the tool
// cannot be loaded, the error is an *abi.Fault with the code source_invalid. If no usable runtime
// exists, the error is an *abi.Fault with the code unavailable or source_invalid, and its hint
// describes the remedy.
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

// Close releases the interpreter. Close all programs first. Close can be called more than once.
func (e *Engine) Close() error {
	e.lock <- struct{}{}
	defer func() { <-e.lock }()
	i := e.interpreter
	if e.interpreter = nil; i == nil {
		return nil
	}
	return i.close()
}

// started returns the interpreter and starts it if necessary.
func (e *Engine) started(ctx context.Context) (*interpreter, error) {
	select {
	case e.lock <- struct{}{}:
		defer func() { <-e.lock }()
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
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
		_ = i.close() // the error of the failed start is more useful than the error of ctx
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

const hintRuntime = "install it with toolrun python install, or set --python-wasm FILE"

func noRuntime() ([]byte, error) {
	return nil, abi.Faultf(abi.Unavailable, "no Python runtime is available").WithHint(hintRuntime)
}
