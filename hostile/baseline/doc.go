// Package baseline is a host without precautions, as a first version might be: goja with an
// interrupt after the deadline, and wazero, python3, esbuild, a schema library and a YAML library
// with their defaults. It shows what each case of the corpus does to such a host. It is not part of
// toolrun.
//
// It runs in its own process, which its parent kills if it hangs.
package baseline
