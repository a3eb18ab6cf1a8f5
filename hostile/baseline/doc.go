// Package baseline is a host as one writes it on the first day: goja with an interrupt after the deadline, wazero as it
// comes, the machine's own python3, esbuild, a schema library and a YAML library with their defaults. It shows what each case of the corpus does
// to a host that takes no precautions, and is no part of toolrun.
//
// It runs in a process of its own, which whoever started it kills when it hangs.
package baseline
