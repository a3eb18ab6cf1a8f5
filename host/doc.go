// Package host runs tools: it opens an app, and for each [Invocation] executes the named tool in a fresh
// guest, bound to the caller's memory, as one transaction.
//
// A [Host] is made of values: the declarations of an app, a backend for its records, and an engine for each
// language. It knows no engine and no backend by name, so a platform takes those it needs and can bring its
// own.
package host
