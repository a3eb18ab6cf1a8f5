// Package stackguard rewrites WebAssembly modules so that the C stack in linear memory can be
// relocated and stack overflows are detected.
//
// C compilers place variables whose address is taken on a stack in linear memory. The stack grows
// down. A mutable global, the stack pointer, contains the address of the stack's end. If the linker
// places the stack below all other data, an overflow traps without a check, because the address
// becomes negative. However, the size of a stack below all other data is fixed at link time.
// [Rewrite] adds a second global, the limit. Rewrite also adds checks to instructions that may move
// the stack pointer down: the guest traps if the stack pointer is below the limit. A host can then
// set both globals to a region that it has reserved. Initially, the limit is zero, so no check
// fails.
//
// Not every function needs a check. Several calls may occur between two checks if [Slack] limits
// the stack that they use. A C function that only makes direct calls usually needs no check of its
// own, because the check in its caller suffices.
package stackguard
