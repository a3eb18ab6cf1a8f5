// Package python runs Python tools in CPython, compiled to WebAssembly and run by wazero: each run in an interpreter of
// its own, which nothing of any other run has touched.
//
// Starting an interpreter takes half a second, so that is done once: an [Engine] starts one, with the modules that tools
// use imported, and takes a picture of its memory (internal/wasm/snapshot). Loading a tool takes another picture, with
// the tool in it, and the first run of a tool with an entry a third, after the top level of its module. A run begins
// with the last of them, and what it wrote to its memory is put back afterwards, bit for bit, or thrown away. Where
// pictures do not work, each run starts an interpreter from nothing: slower, and otherwise the same.
//
// A tool has one way out, its standard input, which is a channel to the host: it writes a request there and reads the
// reply. The half of that conversation that runs within the interpreter, and makes of it the module memory, is in
// sdk/python-wasm. What a tool writes there is believed no more than any other text of a stranger.
//
// Memory of a run counts as a whole, the interpreter's own 25 MiB included, and is [DefaultMemoryBytes] where the limits
// do not say otherwise. engine.Limits.CallDepth is Python's recursion limit. Files, sockets, threads and processes are
// not there and say so.
package python
