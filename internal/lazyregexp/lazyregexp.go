// Package lazyregexp compiles regular expressions when they are first used. Each worker process
// initializes all packages, but needs few of their regular expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles a regular expression when it is first called. The function
// panics if the syntax is invalid. Several goroutines can call it.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
