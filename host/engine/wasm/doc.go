// Package wasm runs plug-ins with wazero. A plug-in is a tool that was compiled to WebAssembly from
// any language.
//
// The file abi/ABI.md describes the ABI of plug-ins. The package checks a plug-in before wazero
// reads it. The package rewrites the code of a plug-in, so that a run can be stopped and does not
// block Go's garbage collector. The package compiles each plug-in once. Each run gets a fresh
// instance. A plug-in can import the functions for input, output and logs, the memory operations,
// and WASI without files.
package wasm
