// Package wasmtools provides the test tools of package enginetest as WebAssembly plug-ins compiled
// from Go.
package wasmtools
