// Package wasmtools provides the tools of package enginetest as WebAssembly plug-ins that are
// compiled from Go.
package wasmtools
