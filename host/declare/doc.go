// Package declare defines Go types for the declarations of an app: stores, tools and prompts with
// their scopes, retention, grants and limits.
//
// Package app reads them from files, and package memory is configured with them. The only package
// of this module that it imports is abi.
package declare
