// Package python runs Python tools in CPython, which is compiled to WebAssembly and executed by wazero.
// Each run has an interpreter of its own, with no traces of other runs.
//
// Starting an interpreter takes half a second, so an [Engine] does it once: it starts an interpreter,
// imports the modules that tools commonly use, and captures a snapshot of its memory (package
// internal/wasm/snapshot). Loading a tool captures a second snapshot, with the tool loaded. The first
// run of a tool with an entry captures a third, after the top level of its module has run. A run starts
// from the latest of them. After the run, the memory that it wrote is restored bit for bit, or
// discarded. If snapshots do not work, each run starts an interpreter from scratch, which is slower and
// otherwise the same.
//
// A guest reaches the host only through its standard input, which is a channel: the guest writes a
// request to it and reads the reply from it. The guest's part of the protocol, and the module memory
// built on it, are in sdk/python-wasm. The host trusts nothing that a guest writes to the channel.
//
// A run's memory limit includes the interpreter's own 25 MiB; [DefaultMemoryBytes] is the default.
// engine.Limits.CallDepth is Python's recursion limit. There are no files, sockets, threads or
// processes; attempts to use them raise exceptions that name the reason.
package python
