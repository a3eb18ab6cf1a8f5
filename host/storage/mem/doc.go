// Package mem is an in-memory storage backend. Use package mem for tests, for trying out a tool,
// and for hosts whose data is not needed after the process ends.
package mem
