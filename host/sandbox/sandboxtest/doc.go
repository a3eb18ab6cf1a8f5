// Package sandboxtest provides functions for tests of locked-down workers. The tests need them for
// actions that Go's runtime does not support.
package sandboxtest
