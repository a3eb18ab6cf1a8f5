// Package sdkjs embeds the JavaScript of the SDK, which the engine runs in its guests. The npm
// package contains the same files, so the author of a tool tests with the code that the tool runs
// with.
package sdkjs

import "embed"

// Files contains the modules that a guest runs, and memory.js, the counterpart of the host's memory
// in Node. They are CommonJS modules that require only each other.
//
//go:embed errors.js memory.js format.js console.js
var Files embed.FS
