// Package mem is a storage backend that keeps its records in memory: for tests, for trying a tool out, and
// for hosts that need nothing to outlive the process.
package mem
