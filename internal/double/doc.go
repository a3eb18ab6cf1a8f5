// Package double provides the memory of apps to tests that run outside toolrun. Each line of input
// is a JSON request, and each line of output is a JSON reply.
//
// [Serve] is the entry point. A test declares an app, sets a clock, and makes the same calls as a
// tool. The implementation is the memory of the host on an in-memory backend. Every run is a run of
// [host.Host] in which the client replaces the tool code. The client begins a run, makes calls, and
// ends the run with an output or an error. Grants, schemas, merges, faults and Results are
// therefore the same as in a real run, because the double has no implementation of its own.
//
// The protocol is described in docs/reference/double.md.
package double
