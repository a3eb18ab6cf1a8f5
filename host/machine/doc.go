// Package machine parses, checks and formats machines, which are tools that consist of declared
// steps. The package reports mistakes with their positions, and derives JSON Schemas and
// permissions from a machine.
//
// A machine is a sequence of steps. The steps "recall", "remember" and "forget" use collections.
// The step "ask" uses a language model. The step "compute" contains JavaScript. The parser
// recognizes a line by its keyword. Therefore the meaning of a file does not depend on indentation.
//
// The package finds the end of JavaScript code, but does not parse or evaluate it. Package
// host/engine/js translates a [Document] to JavaScript.
//
// All functions are safe for concurrent use. A file has at most [MaxFileBytes] bytes, so the run
// time of each function is bounded.
package machine
