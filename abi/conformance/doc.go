// Package conformance checks how a plug-in handles inputs, replies and every fault of the ABI.
// During a check, a test double replaces the host's memory.
package conformance
