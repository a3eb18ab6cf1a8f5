// Package cachefs provides a file system that reads each file once and caches its content. A
// service compiles the tools of an app from this cache, for each tenant on first use. Changes of
// the files therefore take effect only on a reload.
package cachefs
