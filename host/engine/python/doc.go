// Package python runs Python tools in CPython. CPython is compiled to WebAssembly and executed by
// wazero. Each run has its own interpreter, which contains no traces of other runs.
//
// It takes half a second to start an interpreter, so an [Engine] starts only one interpreter. The
// engine makes this interpreter import the modules that tools commonly use. Then the engine
// captures a first snapshot of the interpreter's memory (package internal/wasm/snapshot). After the
// interpreter has loaded a tool, the engine captures a second snapshot. If the tool has an entry
// function, the first run executes the top-level code of the tool's module and captures a third
// snapshot. Each run starts from the latest snapshot. A run changes memory. After the run, the
// engine restores this memory bit for bit or discards it. If snapshots do not work, each run starts
// a new interpreter. The results are the same, but the runs are slower.
//
// The only connection from a guest to the host is the guest's standard input. The standard input is
// a two-way channel: the guest writes requests to it and reads the replies from it. The folder
// sdk/python-wasm contains the Python code that implements the protocol in the guest, and the
// Python module "memory". The host does not trust the messages of a guest.
//
// The memory limit of a run is [DefaultMemoryBytes] by default. The interpreter itself uses 25 MiB
// of this memory. engine.Limits.CallDepth is Python's recursion limit. Tools cannot use files,
// sockets, threads or processes. An attempt raises an exception that contains the reason.
package python
