// Package native is a corpus of native guests. They do what an attacker can do who has escaped the
// sandbox of a language, in a locked-down worker. Each attack has an expected outcome. With any one
// isolation layer disabled, the host and its other guests must survive.
package native
