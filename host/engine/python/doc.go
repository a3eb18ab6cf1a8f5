// Package python runs Python tools in CPython, which is compiled to WebAssembly and executed by
// wazero. Each run has its own interpreter without traces of other runs.
//
// Starting an interpreter takes half a second, so an [Engine] starts only one. The engine imports
// the modules that tools commonly use in the interpreter, and then captures a first snapshot of the
// interpreter's memory (package internal/wasm/snapshot). After the interpreter has loaded a tool,
// the engine captures a second snapshot. If the tool has an entry, the first run executes the top
// level of the module and captures a third snapshot. Each run starts from the latest snapshot.
// After a run, the memory that the run changed is either restored bit for bit or discarded. If
// snapshots do not work, each run starts a new interpreter, which is slower but has the same
// result.
//
// A guest reaches the host only through its standard input, which is a two-way channel. The guest
// writes requests to the channel and reads the replies from the channel. The folder sdk/python-wasm
// contains the guest's side of the protocol and the module memory, which uses the protocol. The
// host does not trust the messages of a guest.
//
// A run's memory limit includes the 25 MiB of the interpreter itself, and is [DefaultMemoryBytes]
// by default. engine.Limits.CallDepth is Python's recursion limit. Tools have no files, sockets,
// threads or processes. Attempts to use files, sockets, threads or processes raise exceptions that
// contain the reason.
package python
