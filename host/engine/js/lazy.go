package js

import (
	"regexp"
	"sync"

	"github.com/dop251/goja"
)

// lazyRegexp returns a function that compiles a regular expression when it is first called. Each
// worker process initializes this package but needs few of its expressions.
func lazyRegexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// lazyProgram returns a function that compiles one of our own scripts when it is first called.
func lazyProgram(name, source string, strict bool) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program { return goja.MustCompile(name, source, strict) })
}
