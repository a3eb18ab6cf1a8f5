// Package mem is an in-memory storage backend. Package mem is suitable for tests, for trying out a
// tool, and for hosts that do not need to keep data after the process ends.
package mem
