// Package fuel rewrites WebAssembly modules so that an endless loop in a guest can be stopped and
// does not block Go's garbage collector.
//
// Go cannot preempt a goroutine that runs machine code from a compiler such as wazero's. If such a
// guest is in a loop that never calls the host, it cannot be stopped. As soon as a garbage
// collection begins, the whole process waits for the guest. [Rewrite] therefore makes the guest
// count its work. Each loop iteration and each function entry subtracts its cost from an added
// global. When the global becomes negative, the guest calls the imported function "yield". In the
// function "yield", the host checks its deadline, the garbage collector can run, and the guest gets
// more fuel. The argument of "yield" is the remaining fuel, which can be negative. The result of
// "yield" is the new amount of fuel. A guest starts without fuel, so its first charge calls
// "yield". The guest also calls "yield" before memory or a table grows, because growing may copy
// all data.
//
// One unit of fuel is used for up to 64 instructions, or for 64 bytes that an instruction moves in
// memory. A guest cannot access the counter, because package binary has already rejected modules
// that use undeclared globals.
package fuel
