// Package host runs tools. It opens an app, and for each [Invocation] executes the named tool in a
// fresh guest with the caller's memory, as one transaction.
//
// A [Host] is made of values: the declarations of an app, a backend for its records, and an engine
// for each language. It does not know any engine or backend by name, so a platform chooses the ones
// that it needs and can add its own.
package host
