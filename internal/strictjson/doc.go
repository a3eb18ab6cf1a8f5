// Package strictjson decodes and encodes JSON documents within bounds: depth, keys of an object, values, number tokens, valid
// UTF-8 and no lone surrogates. All text from outside becomes a value only here.
//
// [Check] is stricter than encoding/json where a lenient reader loses or confuses data: duplicate member names in any spelling,
// lone surrogates, invalid UTF-8, and numbers that are expensive to process. Every reader interprets an accepted text in the
// same way. The functions have no state and are safe for concurrent use.
package strictjson
