// Package host opens apps and runs their tools. For each [Invocation] it executes one tool in a new
// guest. The tool reads and writes the stored data of the caller in one transaction.
//
// A [Host] consists of the declarations of an app, a backend that stores its records, and an engine
// for each language. The package does not depend on any specific engine or backend. A program
// passes the engines and the backend that it needs, which can be its own implementations.
package host
