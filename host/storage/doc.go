// Package storage is the contract of a backend: something that keeps records under keys and changes
// several of them at once or not at all. It knows nothing of stores, scopes, grants or schemas.
//
// A [Backend] has few operations, chosen so that an embedded B+tree with one writer, a relational database
// and any compare-and-set store can offer them. Packages bolt and mem implement it; storagetest is the
// suite that every backend passes.
package storage
