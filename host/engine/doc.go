// Package engine defines the interface between the host and the engines that run guest code. Only
// values cross the interface. Source, input, context and limits go in; output, log lines and calls
// with JSON arguments come out. The same engine can therefore run in the host's process or in a
// worker process. An engine does not know stores, callers or grants.
//
// An [Engine] compiles a [Source] into a [Program]. Each call to Program.Run executes a program
// once, in a fresh guest that shares no state with other guests. Package enginetest is the
// conformance suite for engines.
package engine
