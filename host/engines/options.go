package engines

// Option changes what NewPool or InProcess make.
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

// WithPython names the file of the interpreter that Python tools run on, CPython for WASI: what distribution.Find tells,
// or another build. It is read when the first Python tool is loaded. Default: there is none, and a Python tool is
// answered with what to do.
func WithPython(file string) Option { return func(c *choices) { c.python = file } }

// WithCache has engines in process keep what they compiled in a folder, which is the user's alone. Pools have
// sandbox.Options.CacheDir for that. Default: it is not kept.
func WithCache(dir string) Option { return func(c *choices) { c.cacheDir = dir } }

// WithPanicLog has panics of engines in process told to a function, which may be called by many goroutines: each is a
// bug. Pools have sandbox.Options.Logger for that. Default: what it was is lost.
func WithPanicLog(log func(engine string, value any, stack []byte)) Option {
	return func(c *choices) { c.panicked = log }
}

// readPython reads the interpreter.
func (c choices) readPython() ([]byte, error) { return readPython(c.python) }
