// Package machine reads the language of machines: it parses files, reports mistakes with their
// position, formats files, and derives the JSON Schemas and the permissions of a machine.
//
// A machine is a sequence of steps. The steps recall, remember and forget use collections, the step
// ask uses a language model, and the step compute contains JavaScript. The reader recognizes lines by
// their keywords, so a file without any indentation has the same meaning as the formatted file.
//
// The package finds the end of JavaScript code, but does not parse or evaluate it. Package
// host/engine/js translates a [Document] to JavaScript.
//
// All functions are safe for concurrent use. The work of each function is bounded by the size of
// the file, which is at most [MaxFileBytes].
package machine
