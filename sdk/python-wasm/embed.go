// Package sdkpython carries the Python of the SDK that runs around a tool into the host, where an engine gives it to
// its guests.
package sdkpython

import "embed"

// Guest holds the package that a guest imports. Its boot.py is what the interpreter is started with.
//
//go:embed guest/*.py
var Guest embed.FS
