// Package declare defines the declarations of an app as values: stores, tools and prompts, with
// their scopes, retention, grants and limits.
//
// Package app reads files into these values, and memory is configured with them. The package
// imports only the guest contract.
package declare
