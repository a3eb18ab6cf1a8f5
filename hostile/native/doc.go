// Package native is a corpus of native guests: what somebody could do who has left the sandbox of a language, tried in a
// locked-down worker. Each attempt has an outcome that is expected, and must leave the host and its neighbours alive,
// whichever layer of the wall is switched off.
package native
