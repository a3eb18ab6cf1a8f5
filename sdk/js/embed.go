// Package sdkjs carries the JavaScript of the SDK into the host, where an engine gives it to its guests. The
// same files are the npm package, so a tool's author tests against what the tool will run with.
package sdkjs

import "embed"

// Files holds the modules that a guest runs, and memory.js, which does for Node what the host does for a guest. They
// are CommonJS modules that require only each other.
//
//go:embed errors.js memory.js format.js console.js
var Files embed.FS
