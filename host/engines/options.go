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

// WithPython sets the file of the interpreter for Python tools, CPython for WASI: the one that
// distribution.Find returns, or another build. It is read when the first Python tool is loaded.
// Default: none; a Python tool then fails with a hint.
func WithPython(file string) Option { return func(c *choices) { c.python = file } }

// WithCache sets a folder, accessible only to the user, in which in-process engines keep compiled
// code. Pools use sandbox.Options.CacheDir instead. Default: compiled code is not kept.
func WithCache(dir string) Option { return func(c *choices) { c.cacheDir = dir } }

// WithPanicLog sets a function that is called for each panic in an in-process engine, possibly by
// many goroutines. Each panic is a bug. Pools use sandbox.Options.Logger instead. Default: panics
// are not logged.
func WithPanicLog(log func(engine string, value any, stack []byte)) Option {
	return func(c *choices) { c.panicked = log }
}

// readPython reads the interpreter.
func (c choices) readPython() ([]byte, error) { return readPython(c.python) }
