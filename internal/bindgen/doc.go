// Package bindgen generates declarations of the memory operations from their table: the types for JavaScript and Python, the
// functions of the bindings for Go, C and AssemblyScript, and the tables of abi/ABI.md.
//
// After a change of the table, run go generate; a test fails until then.
package bindgen

//go:generate go run ./generate ../..
