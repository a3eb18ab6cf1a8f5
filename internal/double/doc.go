// Package double serves the memory of apps to tests that run outside of toolrun. Each line of input is a JSON request, and each line
// of output is a JSON reply.
//
// [Serve] is the entry point. A test declares an app, sets a clock, and makes the calls that a tool would make. The memory is that of
// the host, on an in-memory backend: every run is a run of [host.Host] whose guest is the client. The client begins a run, makes
// calls, and ends it with an output or an error. Grants, schemas, merges, faults and Results are therefore those of a real run, and
// there is no second implementation that could differ.
//
// The protocol is described in docs/reference/double.md.
package double
