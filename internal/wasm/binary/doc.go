// Package binary reads WebAssembly modules of strangers before anything else does, and writes them again.
//
// [Parse] is a check that a compiler can rely on: it runs in time and memory linear in the size of the module,
// compares every count with the bytes that are left before it makes room for it, walks every instruction of
// every function, and refuses what is larger than [Limits] allow. It reads WebAssembly 2.0 and refuses
// whatever goes beyond. It is no validator: the types on the operand stack are checked by who compiles.
//
// [Sections], [Join] and the Append functions are for those who change a module.
package binary
