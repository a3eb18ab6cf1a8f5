// Package native is a corpus of native guests. The guests do what an attacker can do in a
// locked-down worker after escaping the sandbox of a language. Each attack has an expected outcome.
// If any single isolation layer is disabled, the host and its other guests must survive.
package native
