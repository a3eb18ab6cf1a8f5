// Package cachefs provides a file system that reads each file once and caches its content. When a
// tenant first uses an app, the service reads the sources of the app's tools from this cache.
// Changes to the sources of tools therefore take effect only on a reload.
package cachefs
