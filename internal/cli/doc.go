// Package cli implements the command line of toolrun.
//
// [Main] is the only entry point. It receives the process as an [Env] and returns an exit code, so that tests and programs
// that embed the commands can call it like any other function. Each command works like an embedder of the Go API: it reads an
// app file, opens a database and makes a host.Host with engines. With --server it uses the HTTP API of a toolrun serve
// instead: commands use an app through interfaces that both implement.
//
// Results go to stdout, as text or, with --json, as one JSON document. Everything else goes to stderr: logs and progress,
// warnings, and errors with a hint on a separate line.
package cli
