// Package abitest checks that hosts, bindings and plug-ins follow the ABI, which abi/ABI.md
// describes.
//
// [Vectors] returns worked examples, one or more for each function and fault. A vector consists of
// the initial memory, some calls with their results, and the expected effects. [Vector.Module]
// converts it to a plug-in that checks itself. A host conforms if it runs all of these plug-ins
// successfully, with the expected effects. [Guest] checks a binding by running its probe, a plug-in
// that executes scripts. A binding must pass numbers and texts unchanged, and its probe must pass
// the checks of package conformance.
package abitest
