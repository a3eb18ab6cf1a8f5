// Package declare defines Go types for the declarations of an app: stores, tools and prompts with
// their scopes, retention, grants and limits.
//
// Package app reads them from files, and package memory is configured with them. Of this module,
// the package imports only package abi.
package declare
