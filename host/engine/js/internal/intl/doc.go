// Package intl formats numbers, dates and lists as Intl of ECMA-402 does, with the data of Unicode
// CLDR.
//
// Its results are those of Node 20, which uses ICU 78 with CLDR 48. It rejects what it does not
// support with an *Error and never approximates. The data are compressed in the binary. A process
// decompresses the data of a language at its first use, and all runs share them; they contain
// nothing of a caller.
//
// All types are safe for concurrent use once created.
package intl

//go:generate go run ./generate -out cldr.bin
