// Package host opens apps and runs their tools. For each [Invocation], a Host executes one tool in
// a new guest. The tool reads and writes the stored data of the caller in one transaction.
//
// A [Host] consists of the declarations of an app, a backend that stores its records, and an engine
// for each language. The package does not depend on any specific engine or backend. The program
// that embeds the package passes the engines and the backend, which can be the program's own
// implementations.
package host
