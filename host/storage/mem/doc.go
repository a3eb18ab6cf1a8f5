// Package mem is an in-memory storage backend. Use it for tests, to try out a tool, and for hosts
// that do not need to keep data after the process ends.
package mem
