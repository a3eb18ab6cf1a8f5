// Package wasmtest builds small WebAssembly modules for tests and for the ABI examples. A module
// consists of one memory and of functions with i32 values, whose code is given in bytes.
package wasmtest
