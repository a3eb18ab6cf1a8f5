// Package conformance checks whether a plug-in follows the ABI: how it handles inputs, replies and
// every fault. It runs the plug-in with a test double of memory.
package conformance
