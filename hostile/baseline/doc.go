// Package baseline is a host without precautions. A developer might write such a host as the first
// version of a product. The host uses goja with an interrupt after the deadline. The host uses
// wazero, python3, esbuild, a schema library and a YAML library with the default settings of each.
// The package shows how each case of the corpus affects such a host. The package is not a part of
// toolrun.
//
// The baseline host runs in a separate process, and its parent kills it if it hangs.
package baseline
