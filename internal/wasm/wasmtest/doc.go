// Package wasmtest builds small WebAssembly modules for tests and for the ABI examples. A module has
// one memory and some functions. The parameters and results of the functions are i32 values, and
// the caller passes the code of each function as bytes.
package wasmtest
