// Package stackguard rewrites WebAssembly modules so that the stack in their linear memory can be
// relocated and cannot overflow undetected.
//
// C compilers keep variables whose address is taken on a stack in linear memory. Its end is in a
// mutable global, the stack pointer, and it grows down. If the linker places the stack below all
// other data, an overflow traps without a check, because its address is below zero. But then the
// size of the stack is fixed at link time. [Rewrite] adds a second global, the limit, and checks
// where the stack pointer may move down: a stack pointer below the limit traps. A host can then
// point both globals at a region that it has reserved. The limit is zero at first, and then no
// check fails.
//
// Not every function needs a check: there may be several calls between two checks, as long as the
// stack that they use is bounded by [Slack]. The check of the caller usually covers a C function
// that only makes direct calls.
package stackguard
