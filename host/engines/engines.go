// Package engines bundles toolrun's engines: JavaScript and TypeScript, WebAssembly, and Python.
//
// A program that runs tools calls [Main] at the beginning of its function main, and creates its
// engines with [NewPool]. Every guest then runs in a locked-down worker process. For trusted tools,
// [InProcess] returns the same engines without worker processes.
//
// Python needs an interpreter that is not part of toolrun. Package distribution installs the
// interpreter, and [WithPython] sets its path.
package engines

import (
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// Main runs the worker if this process was started as one, and then does not return. Otherwise it
// does nothing. A program that uses NewPool or NewDocumentPool must call Main at the beginning of
// its function main. The program's tests must call Main at the beginning of TestMain.
func Main() { sandbox.Main(append(sandboxed(choices{}), documents())...) }

// NewPool returns a worker pool that supports all languages. NewPool ignores
// sandbox.Options.Languages. Pass the pool's Engines to host.Options. Close the host before you
// close the pool.
func NewPool(workers sandbox.Options, options ...Option) (*sandbox.Pool, error) {
	workers.Languages = sandboxed(choose(options))
	return sandbox.New(workers)
}

// UTC is the time zone of tools in workers.
var UTC = engine.UTC

// InProcess returns an engine for every language. The engines run guests in this process. A guest
// can therefore exhaust the memory of the process or make the process hang, and a bug in an engine
// can allow a guest to escape. Every Result contains a warning that the tool ran without isolation.
//
// JavaScript dates use the process's local time zone. In workers, they use UTC. To use UTC in this
// process too, set time.Local to UTC at the start of the program.
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
