// Package conformance checks how a plug-in handles inputs, replies and every fault of the ABI. It
// replaces the host's memory with a test double.
package conformance
