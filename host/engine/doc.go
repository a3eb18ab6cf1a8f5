// Package engine defines the interface between the host and the engines that run guest code. Only
// values cross it: source, input, context and limits go in; output, log lines and calls with JSON
// arguments come out. So the same engine runs in the host's process or in a worker process, and
// does not know stores, callers or grants.
//
// An [Engine] turns a [Source] into a [Program]. Each Run of a Program executes it once, in a fresh
// guest that shares no state with any other. Package enginetest is the conformance suite of
// engines.
package engine
