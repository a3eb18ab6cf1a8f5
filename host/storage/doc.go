// Package storage is the contract of a backend, which stores records under keys and updates several
// of them atomically. It has no notion of scopes, grants or schemas.
//
// A [Backend] has few operations, which an embedded B+tree with one writer, a relational database,
// and any compare-and-set store can provide. Packages bolt, mem and postgres implement it;
// storagetest is the test suite that every backend passes.
package storage
