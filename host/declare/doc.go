// Package declare holds what an app declares, as values: stores, tools and prompts, with their scopes, retention, grants and
// limits.
//
// Package app reads files into these values, and memory is made of them. The package imports only the guest contract.
package declare
