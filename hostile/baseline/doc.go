// Package baseline is a host without precautions. A developer might write such a host as the first
// version of a product. The host uses goja and interrupts a script at the deadline. The host also
// uses wazero, python3, esbuild, a schema library and a YAML library. All programs and libraries of
// the host have their default settings. The package shows how each case of the corpus affects such
// a host. The package is not a part of toolrun.
//
// The baseline host runs in a separate process. If the process hangs, the parent process kills it.
package baseline
