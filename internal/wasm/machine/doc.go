// Package machine configures wazero identically for all engines of toolrun.
//
// [Rewrite] makes a module interruptible and, if its state allows it, restorable. [Compile]
// compiles the rewritten module to a [Machine], which is a runtime with one compiled module and its
// imports. [Cache], [Save] and [OpenSealed] store machine code in folders. A [Guest] is the part of
// an execution that the host implements. After each slice of fuel, the machine asks the Guest
// whether the execution may continue.
package machine
