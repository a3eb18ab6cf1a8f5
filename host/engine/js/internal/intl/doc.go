// Package intl formats numbers, dates and lists as the Intl object of ECMA-402 does. The data comes
// from Unicode CLDR.
//
// The results equal the results of Node 20, which uses ICU 78 with CLDR 48. The package never
// approximates a result. Unsupported features are rejected with an *Error. The data is embedded in
// compressed form. A process decompresses the data of a language when it first uses the language.
// All runs share the decompressed data, which contains nothing from a caller.
//
// After creation, all types except Collator are safe for concurrent use.
package intl

//go:generate go run ./generate -out cldr.bin
