// Package bindgen generates declarations of the memory operations from the operation table. The
// output consists of the types for JavaScript and Python, the functions of the bindings for Go, C
// and AssemblyScript, and the tables of abi/ABI.md.
//
// After a change of the operation table, run "go generate". A test fails if the generated files are
// out of date.
package bindgen

//go:generate go run ./generate ../..
