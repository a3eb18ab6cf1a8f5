// Package wasi implements WASI preview 1, the host module "wasi_snapshot_preview1", without files,
// directories and sockets.
//
// Every function of preview 1 links, so the output of a Go, C, Rust, AssemblyScript or CPython
// toolchain can be instantiated. A guest has arguments, an environment, clocks, random bytes,
// output as log lines, an empty input or one that is a channel to the host, waiting, and an exit.
// All other functions fail as on an operating system without these features: only the three
// descriptors of standard input and output are ever open, and none of them is a directory, so
// opening a file fails in the guest's libraries.
//
// [Instantiate] creates one host module for all guests of a wazero runtime. A [System] holds the
// state of one run. [With] adds it to the context of a call, where the functions find it.
//
// No argument of a guest causes a panic, or an allocation outside of the guest's memory. The host
// stops a guest with an error that the guest cannot catch, such as that of a full log or the cause
// of an ended context. [System.Err] returns it. No function waits longer than the context.
//
// The specification is https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md. Where it
// permits several errors, the functions return that of POSIX.
package wasi
