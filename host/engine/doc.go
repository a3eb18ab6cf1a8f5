// Package engine defines the interface between the host and the engines that run guest code. Only
// values are passed through this interface. Source, input, context and limits are passed to the
// engine. The engine passes output, log lines and calls with JSON arguments to the host. Therefore,
// the same engine can run in the host's process or in a worker process. An engine does not know
// stores, callers or grants.
//
// An [Engine] compiles a [Source] into a [Program]. Each call to Program.Run executes a program
// once. For each call, there is a new guest that shares no state with other guests. Package
// enginetest is the conformance suite for engines.
package engine
