// Package js runs tools on goja. The tools are written in JavaScript or TypeScript.
//
// Load bundles a source into one script, and compiles the script once. Each Run executes the script
// in a new runtime, on the goroutine that calls Run. The next run has no access to the state of an
// earlier run. A guest can use the language, timers, some web APIs, and the globals memory,
// console, env and MemoryAccessError. A guest has no access to files, to the network or to
// processes. A guest cannot create code from text: eval and the Function constructors throw an
// error.
//
// The host and the guest exchange values as JSON. The values of the guest are encoded by an encoder
// in this package. If JSON cannot represent a value, the encoder rejects the value and reports its
// path. It does not silently replace the value. Getters and proxies run guest code, so the encoder
// runs within a protected call. A guest can change the names of its globals and properties. The
// encoder does not depend on them.
//
// This package cannot prevent a guest from ending the process: goja has no memory limit, and does
// not check for an interrupt inside a built-in function. Therefore, the sandbox that contains the
// process must limit both memory and time.
package js
