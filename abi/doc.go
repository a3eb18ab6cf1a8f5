// Package abi defines the contract between a guest and its host. The contract consists of the
// operations that a guest can call, the faults that a call can return, and the JSON formats of
// both.
//
// A guest is the code of a tool, in any language. A guest accesses stored data only through the
// operations of a [Table]. Engines generate their bindings from the table, so calls, replies and
// faults are the same in every language.
//
// The package imports no other package of this module. The whole API of the package is public:
// embedders, engines and SDKs can use it.
package abi

// Version is the version of the contract. Every change that an existing guest could notice
// increments the version.
const Version = 1
