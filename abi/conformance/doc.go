// Package conformance checks any plug-in against the ABI: how it handles inputs, replies and every fault. It runs the
// plug-in over a memory whose replies the check sets.
package conformance
