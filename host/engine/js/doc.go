// Package js runs tools written in JavaScript and TypeScript on goja.
//
// Load bundles a source into one script and compiles it once. Each Run executes the script in a new
// runtime on the calling goroutine, and no state of a run remains for the next one. A guest has the
// language, the globals memory, console, env and MemoryAccessError, timers and some of the web's
// interfaces. It has no files, no network and no processes, and cannot create code from text: eval
// and the Function constructors throw.
//
// Host and guest exchange values as JSON texts. An encoder of this package writes the guest's
// values. It rejects values that JSON cannot represent and reports their paths, instead of storing
// something else. It runs within a protected call, because getters and proxies are guest code, and
// reads no name that a guest can change.
//
// This package cannot keep a guest from ending the process: goja has no memory limit, and does not
// check for an interrupt inside a built-in function. The sandbox around the process has to bound
// both.
package js
