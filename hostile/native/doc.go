// Package native is a corpus of native guests. The guests behave like an attacker who has escaped
// from the sandbox of a language, but not yet from the locked-down worker. Each attack has an
// expected outcome. If one isolation layer is disabled, the host and the other guests must survive.
package native
