// Package wasm runs plug-ins, which are tools compiled to WebAssembly from any language, with
// wazero.
//
// A plug-in uses the ABI that abi/ABI.md describes. It is checked before wazero reads it. It is
// rewritten so that it can be stopped and does not block Go's garbage collector, and compiled once.
// Each run gets a fresh instance. Its imports are the functions of the run, memory operations, and
// WASI without files.
package wasm
