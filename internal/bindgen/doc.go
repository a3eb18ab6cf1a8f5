// Package bindgen generates what bindings declare of the operations of memory from the table of operations: the types of
// JavaScript and Python, the functions of the bindings for Go, C and AssemblyScript, and the tables of abi/ABI.md.
//
// An operation that is added to the table appears in each of them after go generate; a test fails until then.
package bindgen

//go:generate go run ./generate ../..
