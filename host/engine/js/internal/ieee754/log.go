package ieee754

import "math"

// The constants below are the two parts of ln 2, the coefficients of a series for the logarithm,
// and a factor that normalizes subnormal numbers.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	lg1   = 6.666666666666735130e-01
	lg2_  = 3.999999999940941908e-01
	lg3   = 2.857142874366239149e-01
	lg4   = 2.222219843214978396e-01
	lg5   = 1.818357216161805012e-01
	lg6   = 1.531383769920937332e-01
	lg7   = 1.479819860511658591e-01
	two54 = 1.80143985094819840000e+16
)

// split returns the exponent of x, and x divided by the corresponding power of two. The quotient is
// near 1. The result ok is false if the logarithm of x is a special case, as for 0.
func split(x float64) (k, hx int32, scaled, special float64, ok bool) {
	hx, lx := words(x)
	if hx < 0x00100000 {
		if (hx&0x7fffffff)|int32(lx) == 0 {
			return 0, 0, 0, math.Inf(-1), false
		}
		if hx < 0 {
			return 0, 0, 0, math.NaN(), false
		}
		k -= 54
		x *= two54
		hx, _ = words(x)
	}
	if hx >= 0x7ff00000 {
		return 0, 0, 0, x + x, false
	}
	k += (hx >> 20) - 1023
	hx &= 0x000fffff
	i := (hx + 0x95f64) & 0x100000
	return k + i>>20, hx, withHigh(x, hx|(i^0x3ff00000)), 0, true
}

// Log implements Math.log.
func Log(x float64) float64 {
	k, hx, x, special, ok := split(x)
	if !ok {
		return special
	}
	f := x - 1
	dk := float64(k)
	if 0x000fffff&(2+hx) < 3 {
		if f == 0 {
			if k == 0 {
				return 0
			}
			return dk*ln2Hi + dk*ln2Lo
		}
		r := f * f * (0.5 - 0.33333333333333333*f)
		if k == 0 {
			return f - r
		}
		return dk*ln2Hi - ((r - dk*ln2Lo) - f)
	}
	s := f / (2 + f)
	z := s * s
	w := z * z
	t1 := w * (lg2_ + w*(lg4+w*lg6))
	t2 := z * (lg1 + w*(lg3+w*(lg5+w*lg7)))
	r := t2 + t1
	if (hx-0x6147a)|(0x6b851-hx) > 0 {
		hfsq := 0.5 * f * f
		if k == 0 {
			return f - (hfsq - s*(hfsq+r))
		}
		return dk*ln2Hi - ((hfsq - (s*(hfsq+r) + dk*ln2Lo)) - f)
	}
	if k == 0 {
		return f - s*(f-r)
	}
	return dk*ln2Hi - ((s*(f-r) - dk*ln2Lo) - f)
}

// Log2 implements Math.log2.
func Log2(x float64) float64 {
	const hi2, lo2 = 1.44269504072144627571e+00, 1.67517131648865118353e-10
	if x == 1 {
		return 0
	}
	k, _, x, special, ok := split(x)
	if !ok {
		return special
	}
	y, f := float64(k), x-1
	hfsq := 0.5 * f * f
	s := f / (2 + f)
	z := s * s
	w := z * z
	r := s * (hfsq + (z*(lg1+w*(lg3+w*(lg5+w*lg7))) + w*(lg2_+w*(lg4+w*lg6))))
	hi := highOnly(f - hfsq)
	lo := (f - hi) - hfsq + r
	vhi := hi * hi2
	vlo := (lo+hi)*lo2 + lo*hi2
	w = y + vhi
	vlo += (y - w) + vhi
	return vlo + w
}

// Log10 implements Math.log10.
func Log10(x float64) float64 {
	const ivln10, hi2, lo2 = 4.34294481903251816668e-01, 3.01029995663611771306e-01, 3.69423907715893078616e-13
	if x == 1 {
		return 0
	}
	hx, lx := words(x)
	k := int32(0)
	if hx < 0x00100000 {
		if (hx&0x7fffffff)|int32(lx) == 0 {
			return math.Inf(-1)
		}
		if hx < 0 {
			return math.NaN()
		}
		k -= 54
		x *= two54
		hx, _ = words(x)
	}
	if hx >= 0x7ff00000 {
		return x + x
	}
	k += (hx >> 20) - 1023
	i := int32(uint32(k) >> 31)
	y := float64(k + i)
	z := y*lo2 + ivln10*Log(withHigh(x, hx&0x000fffff|(0x3ff-i)<<20))
	return z + y*hi2
}
