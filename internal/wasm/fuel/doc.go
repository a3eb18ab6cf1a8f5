// Package fuel rewrites WebAssembly modules so that a guest that spins can be stopped, and so that Go's garbage
// collector need not wait for it.
//
// Machine code made by a compiler such as wazero's is no point at which Go can preempt a goroutine. A guest
// that loops without a call to the host can be stopped by nobody, and once a garbage collection begins, the
// whole process waits for it. [Rewrite] therefore makes the guest count: a global of the module's own loses what
// a turn of a loop or the entry of a function costs, and when it falls below zero the guest calls an imported
// function, yield. That is where the host looks at its deadline, where the garbage collector gets its turn, and
// where the guest gets more fuel: yield is told how much is left, which is below zero by what the guest
// overdrew, and returns how much there is from now on. The first charge asks for fuel, for a guest begins with none.
// Before memory or a table grows yield is called too, whatever is left, since that may move all they hold.
//
// A unit of fuel is up to 64 instructions, or 64 bytes of an instruction that moves memory. A guest cannot reach
// the counter: a module that names a global past its own is refused before it is rewritten.
package fuel
