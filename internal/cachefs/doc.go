// Package cachefs provides a file system that reads each file once and keeps its content. A service compiles the tools of an
// app from it, for each tenant on first use, so that changes of the files take effect only on a reload.
package cachefs
