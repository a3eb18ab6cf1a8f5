// Package declare defines Go types for the declarations of an app: stores, tools and prompts with
// their scopes, retention, grants and limits.
//
// Package app reads the declarations from files, and package memory is configured with them.
// Package declare imports only the package abi of this module.
package declare
