// Package engines bundles toolrun's engines: JavaScript and TypeScript, WebAssembly, and Python.
//
// A program that runs tools calls [Main] at the beginning of main and creates its engines with
// [NewPool], so that every guest runs in a locked-down worker process. [InProcess] returns the same
// engines without worker processes, for trusted tools.
//
// Python needs an interpreter that is not part of toolrun. Package distribution installs the
// interpreter, and [WithPython] sets its path.
package engines

import (
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// If this process was started as a worker, Main runs the worker and does not return. Otherwise it
// does nothing. A program that uses NewPool or NewDocumentPool must call Main at the beginning of
// main, and of TestMain in its tests.
func Main() { sandbox.Main(append(sandboxed(choices{}), documents())...) }

// NewPool returns a worker pool for every language. sandbox.Options.Languages is ignored. Pass the
// Engines of the pool to host.Options, and close the pool after the host.
func NewPool(workers sandbox.Options, options ...Option) (*sandbox.Pool, error) {
	workers.Languages = sandboxed(choose(options))
	return sandbox.New(workers)
}

// UTC is the time zone of tools in workers.
var UTC = engine.UTC

// InProcess returns an engine for every language that runs guests in this process. Without worker
// processes, a guest can exhaust the memory of this process or hang the process, and a bug in an
// engine can become a sandbox escape. Every Result contains a warning that the tool ran without
// isolation.
//
// JavaScript dates use the process's local time zone. To use UTC as in workers, set time.Local to
// UTC at the start of the program.
func InProcess(options ...Option) []engine.Engine {
	c := choose(options)
	var all []engine.Engine
	for _, e := range table() {
		all = append(all, e.inProcess(c, func(value any, stack []byte) {
			if c.panicked != nil {
				c.panicked(e.title, value, stack)
			}
		}))
	}
	return all
}
