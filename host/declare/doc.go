// Package declare defines Go types for the declarations of an app. An app declares stores, tools
// and prompts, with their scopes, retention, grants and limits.
//
// Package app reads these declarations from files. Package memory is configured with these
// declarations. From this module, package declare imports only package abi.
package declare
