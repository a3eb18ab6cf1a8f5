// Package storage defines the interface of a backend, which stores records under keys and updates
// several records atomically. The package does not know about scopes, grants or schemas.
//
// A [Backend] has few operations. The operations can be implemented by an embedded B+tree with one
// writer, a relational database, or any store with compare-and-set. Packages bolt, mem and postgres
// are implementations. Package storagetest is the test suite that every backend must pass.
package storage
