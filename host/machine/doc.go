// Package machine implements the language of machines. The package parses and formats files,
// reports mistakes with their position, and derives the JSON Schemas and the permissions of a
// machine.
//
// A machine is a sequence of steps. The steps "recall", "remember" and "forget" use collections.
// The step "ask" uses a language model. The step "compute" contains JavaScript. The parser
// recognizes lines by their keywords, so a file without indentation has the same meaning as the
// formatted file.
//
// The package finds the end of JavaScript code, but does not parse or evaluate it. Package
// host/engine/js translates a [Document] to JavaScript.
//
// All functions are safe for concurrent use. The run time of each function is bounded, because the
// size of a file is at most [MaxFileBytes].
package machine
