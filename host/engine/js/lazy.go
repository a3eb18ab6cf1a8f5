package js

import (
	"regexp"
	"sync"

	"github.com/dop251/goja"
)

// lazyRegexp returns a function that compiles an expression at its first call. Each worker process
// initialises this package and needs few of its expressions.
func lazyRegexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// lazyProgram returns a function that compiles a script of ours at its first call.
func lazyProgram(name, source string, strict bool) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program { return goja.MustCompile(name, source, strict) })
}
