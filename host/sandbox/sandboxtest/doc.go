// Package sandboxtest has what tests of locked-down workers do in them that Go's runtime cannot do.
package sandboxtest
