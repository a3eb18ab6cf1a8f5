// Package js runs tools written in JavaScript and TypeScript on goja.
//
// Load bundles a source into one script and compiles the script once. Each Run executes the script
// in a new runtime on the calling goroutine. No state of a run remains for the next run. A guest
// can use the language, the globals memory, console, env and MemoryAccessError, timers, and some
// web APIs. A guest has no files, no network and no processes. A guest cannot create code from
// text, because eval and the Function constructors throw.
//
// Host and guest exchange values as JSON. An encoder of this package encodes the guest's values.
// The encoder rejects values that JSON cannot represent, instead of silently replacing them, and
// reports their paths. The encoder runs within a protected call, because getters and proxies run
// guest code. The encoder does not use names that a guest can change.
//
// This package cannot prevent a guest from ending the process. goja has no memory limit, and it
// does not check for an interrupt inside a built-in function. The sandbox around the process must
// limit both memory and time.
package js
