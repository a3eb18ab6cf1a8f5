package js

import (
	"sync"

	"github.com/dop251/goja"
)

// lazyProgram returns a function that compiles a script of the engine. The script is compiled when
// the function is called for the first time.
func lazyProgram(name, source string, strict bool) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program { return goja.MustCompile(name, source, strict) })
}
