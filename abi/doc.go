// Package abi defines the contract between a guest and its host: the operations that a guest can
// call, the faults that it can receive, and the JSON format of both.
//
// A guest is the code of a tool, in any language. It accesses its memory only through the
// operations of a [Table]. Engines generate their bindings from that table, so a guest gets the
// same calls, replies and faults in every language.
//
// The package is a leaf: it imports no other package of this module. Embedders, engines and SDKs
// may use everything in it.
package abi

// Version is the version of the contract. Additions that existing guests cannot notice keep it. Any
// other change increments it.
const Version = 1
