// Package wasm runs plug-ins with wazero. A plug-in is a tool that was compiled to WebAssembly. The
// source can be in any language.
//
// The file abi/ABI.md describes the ABI of plug-ins. The package checks a plug-in before wazero
// reads it. The package rewrites the code of a plug-in. The rewritten code can be stopped and does
// not block Go's garbage collector. The package compiles a plug-in once and creates a fresh
// instance for each run. A plug-in can import the functions for input, output and logs, the memory
// operations, and the functions of WASI. WASI provides no files.
package wasm
