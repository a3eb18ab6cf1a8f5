// Package abi is the contract between a guest and the host that runs it: which operations a guest may
// call, which faults it may get, and the JSON in which both are written.
//
// A guest is the code of a tool, in any language. It reaches its memory through the operations in
// [Operations] and nothing else. Engines make their bindings from that one table, so a guest sees the
// same calls, the same answers and the same faults in every language.
//
// The package is a leaf: it imports no other package of this module, and everything in it may be used by
// embedders, engines, SDKs and surfaces alike.
package abi

// Version is the version of the contract. Additions of the same shape keep it; anything that a guest of
// version 1 could notice changes it.
const Version = 1
