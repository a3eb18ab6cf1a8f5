// Package cli is the command line of toolrun: the commands, and what they are wired to.
//
// [Main] is all of it. It takes everything that it may know of its process as an [Env] and returns an exit
// code, so that tests, and programs that carry the commands in themselves, call it like any other function.
// Below it a command does what an embedder would do: it reads an app file, opens a database, makes a
// host.Host with the engines, and hands over. With --server it does the same by the API of a toolrun serve: what
// commands need of an app is one interface, which a host.Host and an API client both are tools.
//
// What a command answers goes to stdout, as text or, with --json, as one JSON document. Everything else goes to
// stderr: logs and progress as they happen, warnings, and errors with a hint on a line of its own.
package cli
