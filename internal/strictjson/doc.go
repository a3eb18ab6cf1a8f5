// Package strictjson reads and writes JSON documents within bounds: depth, keys a level, values, number tokens, valid
// UTF-8 and no lone surrogates. It is the one place where text from outside becomes a value.
//
// [Check] is stricter than encoding/json where a lenient reader loses or mixes up data: a member name that
// occurs twice, in any spelling, a surrogate without its other half, a byte that is no UTF-8, a number that
// only an attacker would write. What passes means the same to every reader. The functions keep no state and
// are safe for concurrent use.
package strictjson
