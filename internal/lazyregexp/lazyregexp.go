// Package lazyregexp compiles regular expressions when they are first used. Each worker process
// initializes all packages, but needs only a few of their regular expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles a regular expression when it is first called. If the syntax
// is invalid, the returned function panics. Several goroutines can call the returned function.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
