// Package cli implements the command line of toolrun.
//
// [Main] is the only entry point. Main receives the process environment as an [Env] and returns an
// exit code. Tests and other programs can therefore call Main like any other function. Without the
// flag --server, a command uses the public Go API. The command reads an app file, opens a database
// and creates a host.Host with engines. With the flag --server, a command uses the HTTP API of a
// running service. Interfaces such as appBackend hide the difference between an open app and a
// service.
//
// Results go to stdout, either as text or as one JSON document if --json is set. All other output
// goes to stderr: logs, progress, warnings and errors. The hint of an error is on a separate line.
package cli
