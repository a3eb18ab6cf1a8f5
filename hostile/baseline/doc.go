// Package baseline is a host without precautions, like the first version of a host that a developer
// might write. The host uses goja with an interrupt after the deadline. It uses wazero, python3,
// esbuild, a schema library and a YAML library with the default settings of each. The package shows
// the effect of each case of the corpus on such a host. The package is not a part of toolrun.
//
// The baseline host runs in a separate process, and its parent kills it if it hangs.
package baseline
