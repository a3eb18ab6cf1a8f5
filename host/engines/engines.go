// Package engines is the set of engines that toolrun has: JavaScript and TypeScript, WebAssembly, and Python.
//
// A program that runs tools calls [Main] first in main and creates its engines with [NewPool]: every guest then runs in a
// locked-down worker process. [InProcess] returns the same engines without those processes, for tools that are trusted.
//
// Python runs on an interpreter that is not part of this module: package distribution installs one, [WithPython] names it.
package engines

import (
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// Main makes this process a cell where it was started as one, and does not return then; otherwise it does nothing. A
// program that calls NewPool or NewDocumentPool calls it first of all in main, and its tests in TestMain.
func Main() { sandbox.Main(append(sandboxed(choices{}), documents())...) }

// NewPool makes a pool of cells for every language; sandbox.Options.Languages is not looked at. Its Engines are what
// host.Options wants; it is closed after the host.
func NewPool(cells sandbox.Options, options ...Option) (*sandbox.Pool, error) {
	cells.Languages = sandboxed(choose(options))
	return sandbox.New(cells)
}

// UTC is the time zone that tools have in cells.
var UTC = engine.UTC

// InProcess returns an engine for every language that runs its guests in this process. There is one wall less: a
// guest can make the process run out of memory, or hang it, in ways that no engine can hinder, and a bug of an engine
// is a hole. Every Result says so, as a warning.
//
// JavaScript's dates are then in the process's local time zone. A program sets time.Local to UTC at its start to have them
// in UTC, as they are in cells.
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
