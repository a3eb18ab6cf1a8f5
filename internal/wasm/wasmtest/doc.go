// Package wasmtest builds small WebAssembly modules for tests and for the ABI examples. A module
// has one memory, functions with i32 values, and code in bytes.
package wasmtest
