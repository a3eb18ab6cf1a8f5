// Package js runs tools written in JavaScript and TypeScript, on goja.
//
// Load bundles a source into one script and compiles it once; every Run executes it in a new runtime, on the
// goroutine that called Run, and nothing of a run is left for the next one. A guest finds the language, the
// globals memory, console, env and MemoryAccessError, timers and a few of the web's interfaces. It finds no
// files, no network, no process, and no way to make code from text: eval and the Function constructors throw.
//
// Values cross the seam as JSON text. What a guest hands out is written by a walk of our own over its values,
// which refuses what JSON cannot hold and says where it is, instead of storing something else. It runs inside
// a protected call, since getters and proxies are guest code too, and looks at no name that a guest can
// change.
//
// What this package cannot promise is that a guest leaves the process alive: goja has no bound on memory, and
// does not look at an interrupt while it is inside a built-in function. Those walls belong to the process.
package js
