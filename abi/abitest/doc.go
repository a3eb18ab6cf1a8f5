// Package abitest checks whether hosts, bindings and plug-ins follow the ABI. File abi/ABI.md
// specifies the ABI.
//
// [Vectors] returns worked examples: at least one for each function and each fault. A vector lists
// the initial memory, the calls with their results, and the expected effects. [Vector.Module]
// converts a vector to a plug-in that checks the results itself. A host conforms to the ABI if
// every such plug-in succeeds and has the expected effects. [Guest] checks a binding with a probe:
// a plug-in that uses the binding and executes scripts. A binding must transfer numbers and texts
// unchanged. The probe must pass the checks of package conformance.
package abitest
