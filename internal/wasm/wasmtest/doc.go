// Package wasmtest writes small WebAssembly modules, for tests and for the worked examples of the ABI: one memory,
// functions of i32, and code as bytes.
package wasmtest
