// Package sdkjs embeds the JavaScript files of the SDK that the engine runs in its guests. The npm
// package contains the same files, so authors test their tools with the same code.
package sdkjs

import "embed"

// Files contains the modules that a guest runs. Files also contains memory.js, which implements the
// global object "memory" in Node.js tests. All files are CommonJS modules that require only each
// other.
//
//go:embed errors.js memory.js format.js console.js
var Files embed.FS
