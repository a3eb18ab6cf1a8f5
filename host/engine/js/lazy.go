package js

import (
	"sync"

	"github.com/dop251/goja"
)

// lazyProgram returns a function that compiles one of our own scripts when it is first called.
func lazyProgram(name, source string, strict bool) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program { return goja.MustCompile(name, source, strict) })
}
