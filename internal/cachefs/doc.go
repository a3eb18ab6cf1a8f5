// Package cachefs provides a file system that reads each file once and caches its content. The
// service reads the sources of an app's tools through this cache when a tenant uses the app for the
// first time. Changes to the sources of tools therefore take effect only on a reload.
package cachefs
