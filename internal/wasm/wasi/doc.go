// Package wasi implements WASI preview 1, which is the host module "wasi_snapshot_preview1",
// without files, directories and sockets.
//
// Package wasi provides every function of preview 1, so it can instantiate the output of Go, C,
// Rust, AssemblyScript and CPython toolchains. A guest has arguments, environment variables, clocks
// and random bytes. A guest can also wait and exit. The output of a guest becomes log lines, and
// the input of a guest is either empty or a channel to the host. All other functions fail as on an
// operating system without these features. Only the three descriptors for standard input and output
// are ever open. None of them is a directory, so opening a file fails in the guest's libraries.
//
// [Instantiate] creates one host module for all guests of a wazero runtime. A [System] contains the
// state of one run. [With] adds the System to the context of a call, where the functions of the
// host module find it.
//
// No argument of a guest causes a panic or an allocation outside of the guest's memory. The host
// stops a guest with an error that the guest cannot catch. Examples of such errors are an error
// that Config.Log returns, and the cause of an ended context. [System.Err] returns the error. No
// function waits after the context has ended.
//
// The specification is https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md. If the
// specification permits several errors, the functions return the POSIX error.
package wasi
