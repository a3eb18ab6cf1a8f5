// Package conformance checks how a plug-in handles inputs, replies and every fault of the ABI. The
// package replaces the host's memory with a test double.
package conformance
