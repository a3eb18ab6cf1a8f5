// Package wasmtools holds the tools of package enginetest as plug-ins, compiled from Go.
package wasmtools
