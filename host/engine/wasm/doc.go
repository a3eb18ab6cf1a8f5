// Package wasm runs plug-ins: tools compiled to WebAssembly, from any language, by wazero.
//
// A plug-in speaks the ABI that abi/ABI.md describes. It is checked before wazero sees a byte of it, rewritten so
// that it can be stopped and never holds up Go's garbage collector, and compiled once; each run gets a fresh
// instance whose imports are the run's own functions, memory and a WASI without files.
package wasm
