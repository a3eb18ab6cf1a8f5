// Package machine sets up wazero in the one way that all engines of toolrun use.
//
// [Rewrite] makes a module interruptible and, if its state allows it, restorable. [Compile] makes a
// [Machine] of the result: a runtime with the compiled module and its imports. [Cache], [Save] and
// [OpenSealed] keep machine code in folders. A [Guest] is the host's side of one execution: the
// machine asks it between two slices of fuel whether to go on.
package machine
