// Package mem is a storage backend in memory, for tests, for trying out a tool, and for hosts whose
// data need not outlive the process.
package mem
