// Package cachefs has a file system that reads each file once: whatever becomes of the files meanwhile, who asks again gets
// what was there at first. A service compiles its tools from one, for each tenant when it first asks, and takes up changes
// of files when it is told to and not before.
package cachefs
