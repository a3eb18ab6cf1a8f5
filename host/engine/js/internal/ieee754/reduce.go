package ieee754

import (
	"math"
	"math/big"
	"sync"
)

// remPio2 returns x modulo pi/2 as the sum of two numbers. remPio2 also returns the quotient n.
// Only the lowest bits of n are exact.
func remPio2(x float64) (n int32, y0, y1 float64) {
	hx, _ := words(x)
	ix := hx & 0x7fffffff
	if ix <= 0x3fe921fb {
		return 0, x, 0
	}
	if ix > 0x413921fb {
		return remLarge(x)
	}
	t := math.Abs(x)
	n = int32(t*6.36619772367581382433e-01 + 0.5)
	fn := float64(n)
	r := t - fn*1.57079632673412561417e+00
	w := fn * 6.07710050650619224932e-11
	y0 = r - w
	j := ix >> 20
	h, _ := words(y0)
	if j-(h>>20)&0x7ff > 16 {
		t = r
		w = fn * 6.07710050630396597660e-11
		r = t - w
		w = fn*2.02226624879595063154e-21 - ((t - r) - w)
		y0 = r - w
		h, _ = words(y0)
		if j-(h>>20)&0x7ff > 49 {
			t = r
			w = fn * 2.02226624871116645580e-21
			r = t - w
			w = fn*8.47842766036889956997e-32 - ((t - r) - w)
			y0 = r - w
		}
	}
	y1 = (r - y0) - w
	if hx < 0 {
		return -n, -y0, -y1
	}
	return n, y0, y1
}

// reduceBits is the number of binary digits of pi/2 that remLarge uses. This number is large enough
// for the digits of the largest number, for the leading zeros of a remainder, and for the digits of
// the remainder.
const reduceBits = 1024 + 200

// halfPi returns pi/2 times 2 to the power of reduceBits. halfPi uses Machin's formula.
var halfPi = sync.OnceValue(func() *big.Int {
	one := new(big.Int).Lsh(big.NewInt(1), reduceBits+32)
	arctan := func(x int64) *big.Int { // of 1/x
		sum, term, square := new(big.Int), new(big.Int).Div(one, big.NewInt(x)), big.NewInt(x*x)
		for i := int64(1); term.Sign() != 0; i += 2 {
			part := new(big.Int).Div(term, big.NewInt(i))
			if i%4 == 1 {
				sum.Add(sum, part)
			} else {
				sum.Sub(sum, part)
			}
			term.Div(term, square)
		}
		return sum
	}
	quarter := arctan(5)
	quarter.Lsh(quarter, 2).Sub(quarter, arctan(239))
	return quarter.Rsh(quarter, 31)
})

// remLarge computes the results of remPio2 for numbers above a million.
func remLarge(x float64) (n int32, y0, y1 float64) {
	if math.IsInf(x, 0) || x != x {
		return 0, math.NaN(), 0
	}
	fraction, exponent := math.Frexp(math.Abs(x))
	rest := new(big.Int).Lsh(big.NewInt(int64(fraction*(1<<53))), uint(exponent-53+reduceBits))
	half := halfPi()
	times := new(big.Int).Lsh(rest, 1)
	times.Add(times, half).Div(times, new(big.Int).Lsh(half, 1)) // round to the nearest integer
	rest.Sub(rest, new(big.Int).Mul(times, half))
	exact := new(big.Float).SetMantExp(new(big.Float).SetInt(rest), -reduceBits)
	y0, _ = exact.Float64()
	y1, _ = exact.Sub(exact, big.NewFloat(y0)).Float64()
	n = int32(new(big.Int).And(times, big.NewInt(3)).Int64())
	if x < 0 {
		return -n, -y0, -y1
	}
	return n, y0, y1
}
