// Package wasmtools provides the test tools of package enginetest as WebAssembly plug-ins. The
// plug-ins are written in Go.
package wasmtools
