// Package abitest checks that hosts, bindings and plug-ins keep to the ABI that abi/ABI.md describes.
//
// [Vectors] are worked examples, one or more for each function and fault. Each is a memory, some calls, their
// answers and what changed, and [Vector.Module] makes a plug-in of it that checks itself: a host that runs every one
// to success, with the effects that the vector names, hands out what the page promises. [Guest] holds the other
// side against the contract: a binding's probe, which does what a script tells it, hands on numbers and texts as
// they are written, and passes the checks of package conform.
package abitest
