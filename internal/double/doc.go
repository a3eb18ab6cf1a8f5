// Package double serves the memory of apps to tests that run outside of toolrun: one JSON request a line, one JSON
// reply a line.
//
// [Serve] is all of it. A test declares an app, sets a clock, and makes the calls that a tool would make. The memory is
// the host's own, on a backend in memory: every run is a run of [host.Host], whose guest is the client. The client
// begins a run, makes its calls, and ends it with an output or an error. So grants, schemas, merges, faults and Results
// are those of a real run, and no second implementation exists that could differ.
//
// The protocol is described in docs/reference/double.md.
package double
