package engines

// Option is an option of NewPool and InProcess.
type Option func(*choices)

type choices struct {
	python   string
	cacheDir string
	panicked func(engine string, value any, stack []byte)
}

func choose(options []Option) (c choices) {
	for _, option := range options {
		option(&c)
	}
	return c
}

// WithPython sets the path of the interpreter for Python tools. The interpreter is CPython for
// WASI. The path can be the result of distribution.Find or the path of another build. The engine
// reads the file when the first Python tool is loaded. If WithPython is not used, Python tools fail
// with a fault that contains a hint.
func WithPython(file string) Option { return func(c *choices) { c.python = file } }

// WithCache sets the folder in which in-process engines store compiled code. Other users must not
// have access to the folder. Pools use sandbox.Options.CacheDir instead. By default, in-process
// engines do not store compiled code.
func WithCache(dir string) Option { return func(c *choices) { c.cacheDir = dir } }

// WithPanicLog sets a function that is called for each panic in an in-process engine. Many
// goroutines can call the function at the same time. Each panic is a bug. Pools use
// sandbox.Options.Logger instead. By default, panics are not logged.
func WithPanicLog(log func(engine string, value any, stack []byte)) Option {
	return func(c *choices) { c.panicked = log }
}

// readPython reads the interpreter.
func (c choices) readPython() ([]byte, error) { return readPython(c.python) }
