// Package abitest checks that hosts, bindings and plug-ins follow the ABI. File abi/ABI.md
// specifies the ABI.
//
// [Vectors] returns worked examples: at least one for each function and each fault. A vector lists
// the guest's initial memory, its calls, the result of each call, and the effects that the host
// must record. [Vector.Module] converts a vector to a plug-in that checks the results itself. A
// host conforms to the ABI if the plug-in of every vector succeeds and has the vector's effects.
// [Guest] checks a binding with a probe. A probe is a plug-in that uses the binding and executes
// scripts. A binding must transfer numbers and texts unchanged. A probe must pass the checks of
// package conformance.
package abitest
