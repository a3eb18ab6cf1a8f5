// Package fuel rewrites WebAssembly modules so that an endless loop in a guest can be stopped and
// does not block Go's garbage collector.
//
// Go cannot preempt a goroutine that runs machine code of a compiler such as wazero's. Without a
// call to the host, a guest in a loop cannot be stopped, and once a garbage collection begins, the
// whole process waits for the guest. [Rewrite] therefore makes the guest count its work. Each loop
// iteration and function entry subtracts its cost from an added global. When the global becomes
// negative, the guest calls an imported function, yield. There the host checks its deadline, the
// garbage collector can run, and the guest gets more fuel: yield takes the fuel left, which is
// negative by the amount overdrawn, and returns the new amount. A guest starts without fuel, so its
// first charge calls yield. The guest also calls yield before memory or a table grows, because
// growing may copy all data.
//
// A unit of fuel pays for up to 64 instructions, or for 64 bytes of an instruction that moves
// memory. A guest cannot access the counter: package binary rejects a module that refers to a
// global beyond its own.
package fuel
