// Package ieee754 implements some functions of JavaScript's Math. With few exceptions, its results
// equal the results of V8 to the last digit.
//
// JavaScript does not specify the last digits of results. Authors write and test tools with Node.
// For Math.pow(1.0075, 360) and 9 ** 1.5, Node and Go's package math return different results.
// Also, Go's package math uses different algorithms on different processors. Package ieee754 omits
// Expm1, Log1p, Atanh, Sqrt and Hypot, because Go's package math returns the same results as V8 for
// these functions. A test compares 352,000 results with the results of V8. Nine of them differ:
// sines, cosines and tangents of numbers over two million.
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
// On processors other than amd64, the Go compiler may fuse a multiplication and an addition. Fusing
// can change the last digit.
package ieee754

import "math"

// words returns the high and the low 32 bits of a number.
func words(x float64) (int32, uint32) {
	b := math.Float64bits(x)
	return int32(b >> 32), uint32(b)
}

// fromWords returns the number with the given high and low 32 bits.
func fromWords(high int32, low uint32) float64 {
	return math.Float64frombits(uint64(uint32(high))<<32 | uint64(low))
}

// highOnly returns x with zeros in the low 32 bits.
func highOnly(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff) }

// withHigh returns x with other high 32 bits.
func withHigh(x float64, high int32) float64 {
	_, low := words(x)
	return fromWords(high, low)
}
