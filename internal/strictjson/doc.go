// Package strictjson decodes and encodes JSON documents. Package strictjson enforces limits on the
// depth, the keys of an object, the number of values, and the length of number tokens. Documents
// must be valid UTF-8 without lone surrogates. All JSON from outside the host is decoded by this
// package.
//
// [Check] is stricter than encoding/json, because lenient readers lose or confuse data. Check
// rejects duplicate member names, lone surrogates, invalid UTF-8, and numbers that are expensive to
// process. Every JSON reader interprets an accepted text in the same way. The functions have no
// state and are safe for concurrent use.
package strictjson
