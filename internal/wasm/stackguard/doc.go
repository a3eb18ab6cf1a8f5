// Package stackguard rewrites WebAssembly modules so that the stack that their compiler keeps in memory can be moved,
// and cannot overflow unnoticed.
//
// Compilers of C keep what has an address on a stack in linear memory, and its end in a mutable global, the stack
// pointer. It grows down. A linker that puts it below everything else gets an overflow trapped for free: the next
// address is below zero. But its size is then fixed when the module is linked. [Rewrite] adds a second global, the
// limit, and checks where the stack pointer may go down: a stack pointer below the limit traps. A host can then
// point both at a region that it has reserved. While the limit is zero, which it is at first, nothing changes.
//
// Not each function needs a check: between two of them there may be some calls, as long as what they take is bounded by
// [Slack]. A function of C that only calls others directly is mostly covered by the check of its caller.
package stackguard
