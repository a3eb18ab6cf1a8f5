// Package binary reads untrusted WebAssembly modules before any other code does, and writes
// modules.
//
// [Parse] is a check that a compiler can rely on: it runs in time and memory linear in the size of
// the module, compares every count with the bytes left before it allocates, reads every instruction
// of every function, and rejects modules that exceed [Limits]. It accepts WebAssembly 2.0 and
// rejects later features. It is not a validator: the compiler checks the types on the operand
// stack.
//
// [Sections], [Join] and the Append functions serve code that rewrites modules.
package binary
