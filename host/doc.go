// Package host opens apps and runs their tools. For each [Invocation], a [Host] executes one tool
// in a new guest. The run of the tool is one transaction, in which the tool reads and writes the
// stored data of the caller.
//
// A [Host] has the declarations of an app, a backend, and an engine for each language. The backend
// stores the records of the app. The package does not depend on any specific engine or backend. The
// program that embeds the package chooses the engines and the backend, and it can implement them
// itself.
package host
