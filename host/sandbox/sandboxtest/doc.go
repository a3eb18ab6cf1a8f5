// Package sandboxtest provides functions for tests of locked-down workers. The functions perform
// actions that Go's runtime does not support.
package sandboxtest
