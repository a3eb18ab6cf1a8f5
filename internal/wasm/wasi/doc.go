// Package wasi is the operating system of a WASM guest: WASI preview 1, the host module
// "wasi_snapshot_preview1", without files, directories and sockets.
//
// Every function of preview 1 links, so that what a Go, C, Rust, AssemblyScript or CPython toolchain emits
// can be instantiated. What works is what a computation may have: arguments and environment as they are
// given, clocks, random bytes, output as log lines, an empty input or one that is a channel to the host,
// waiting, and an exit. All else answers as an operating system does that has no such thing: no descriptor but
// the three of standard input and output is ever open, and none is a directory, so that opening a file fails in
// the guest's own words.
//
// One host module serves all the guests of a wazero runtime: [Instantiate] makes it. A [System] holds what
// belongs to one run, and the functions find it in the context of the call: [With] puts it there.
//
// No argument of a guest causes a panic or an allocation beyond its own memory. A guest is ended from outside
// by an error it cannot catch, which [System.Err] returns: that of a full log, or the cause of the context's
// end; no function waits past that.
//
// The specification is https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md; where it leaves
// a choice of errors, POSIX decides.
package wasi
