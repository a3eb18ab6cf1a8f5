// Package binary parses untrusted WebAssembly modules before any other code reads them. The package
// also writes modules.
//
// A compiler can rely on the checks of [Parse]. Parse runs in time and memory linear in the size of
// the module. Before Parse allocates memory, it compares every count with the remaining bytes. The
// package reads every instruction of every function. The package rejects modules that exceed
// [Limits]. The package accepts WebAssembly 2.0 and rejects later features. Parse is not a complete
// validator: the compiler checks the types on the operand stack.
//
// [Sections], [Join] and the Append functions are for code that rewrites modules.
package binary
