// Package conformance checks a plug-in that is nobody's test: how it takes inputs, replies and every fault, over a memory
// that answers as it is told.
package conformance
