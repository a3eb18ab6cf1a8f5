// Package fuel rewrites WebAssembly modules so that an endless loop in a guest can be stopped and
// does not block Go's garbage collector.
//
// Go cannot preempt a goroutine that runs machine code from a compiler such as wazero's. A guest in
// a loop that never calls the host cannot be stopped. Once a garbage collection begins, the whole
// process waits for the guest. [Rewrite] therefore makes the guest count its work. Each loop
// iteration and each function entry subtracts its cost from an added global. When the global
// becomes negative, the guest calls the imported function "yield". In this function, the host
// checks its deadline, the garbage collector can run, and the guest gets more fuel. The argument of
// the function is the remaining fuel, which can be negative. The result is the new amount. A guest
// starts without fuel, so its first charge calls the function. The guest also calls the function
// before memory or a table grows, because growing may copy all data.
//
// One unit of fuel is used for up to 64 instructions, or for 64 bytes that an instruction moves in
// memory. A guest cannot access the counter, because package binary has already rejected modules
// that use undeclared globals.
package fuel
