// The end of a function that the host may have put around the tool, and the beginning of another.
// expect: source_invalid
}); globalThis.escaped = true; (function () {
