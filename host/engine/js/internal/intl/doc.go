// Package intl writes numbers, dates and lists for people, as the Intl of ECMA-402 does, from the data of Unicode CLDR.
//
// It gives what Node 20 gives, which writes by ICU 78 with CLDR 48. What it does not support it refuses with an *Error;
// it has no approximations. The data are compressed in the binary. A process inflates those of a language when a tool
// first uses it, and all runs share them; they hold nothing of a caller.
//
// All types are safe for concurrent use once they are made.
package intl

//go:generate go run ./generate -out cldr.bin
