// Package ieee754 implements some functions of JavaScript's Math. The results of the package's
// functions equal the results of V8 to the last digit.
//
// JavaScript does not specify the last digits of results. Authors write and test tools with Node,
// where Math.pow(1.0075, 360) and 9 ** 1.5 differ from the results of Go's package math. Go's
// package math also uses different algorithms on different processors. The package omits Expm1,
// Log1p, Atanh, Sqrt and Hypot, because package math returns the same results for these functions.
// A test compares 352,000 results with V8. Only nine of the results differ: sines, cosines and
// tangents of numbers over two million.
//
// The algorithms and coefficients come from fdlibm:
//
//	Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//
//	Developed at SunSoft, a Sun Microsystems, Inc. business.
//	Permission to use, copy, modify, and distribute this
//	software is freely granted, provided that this notice
//	is preserved.
//
// Processors other than amd64 may fuse a multiplication and an addition, which can change the last
// digit.
package ieee754

import "math"

// The function "words" returns the high and low halves of a number.
func words(x float64) (int32, uint32) {
	b := math.Float64bits(x)
	return int32(b >> 32), uint32(b)
}

// fromWords returns the number with the given high and low halves.
func fromWords(high int32, low uint32) float64 {
	return math.Float64frombits(uint64(uint32(high))<<32 | uint64(low))
}

// highOnly returns a number whose lower 32 bits are replaced by zeros.
func highOnly(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff) }

// withHigh returns a number with its high half replaced.
func withHigh(x float64, high int32) float64 {
	_, low := words(x)
	return fromWords(high, low)
}
