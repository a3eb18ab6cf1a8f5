package ieee754

import "math"

// Exp implements Math.exp.
func Exp(x float64) float64 {
	const (
		p1     = 1.66666666666666019037e-01
		p2     = -2.77777777770155933842e-03
		p3     = 6.61375632143793436117e-05
		p4     = -1.65339022054652515390e-06
		p5     = 4.13813679705723846039e-08
		invln2 = 1.44269504088896338700e+00
	)
	hx, _ := words(x)
	neg := hx < 0
	hx &= 0x7fffffff
	if hx >= 0x40862E42 {
		switch {
		case x != x:
			return x
		case x > 7.09782712893383973096e+02:
			return math.Inf(1)
		case x < -7.45133219101941108420e+02:
			return 0
		}
	}
	var hi, lo float64
	k := int32(0)
	switch {
	case hx > 0x3fd62e42 && hx < 0x3FF0A2B2:
		if x == 1 {
			return math.E
		}
		k, hi, lo = 1, x-ln2Hi, ln2Lo
		if neg {
			k, hi, lo = -1, x+ln2Hi, -ln2Lo
		}
		x = hi - lo
	case hx > 0x3fd62e42:
		half := 0.5
		if neg {
			half = -0.5
		}
		k = int32(invln2*x + half)
		t := float64(k)
		hi, lo = x-t*ln2Hi, t*ln2Lo
		x = hi - lo
	case hx < 0x3e300000:
		return 1 + x
	}
	t := x * x
	c := x - t*(p1+t*(p2+t*(p3+t*(p4+t*p5))))
	if k == 0 {
		return 1 - ((x*c)/(c-2) - x)
	}
	y := 1 - ((lo - (x*c)/(2-c)) - hi)
	switch {
	case k == 1024:
		return y * 2 * fromWords(0x7fe00000, 0)
	case k >= -1021:
		return y * fromWords(0x3ff00000+k<<20, 0)
	}
	return y * fromWords(0x3ff00000+(k+1000)<<20, 0) * 9.33263618503218878990e-302
}

// Cbrt implements Math.cbrt.
func Cbrt(x float64) float64 {
	const b1, b2 = 715094163, 696219795
	hx, lx := words(x)
	sign := uint32(hx) & 0x80000000
	hx &= 0x7fffffff
	if hx >= 0x7ff00000 {
		return x + x
	}
	var t float64
	if hx < 0x00100000 {
		if hx|int32(lx) == 0 {
			return x
		}
		h, _ := words(two54 * x)
		t = fromWords(int32(sign|uint32((h&0x7fffffff)/3+b2)), 0)
	} else {
		t = fromWords(int32(sign|uint32(hx/3+b1)), 0)
	}
	r := (t * t) * (t / x)
	t = t * ((1.87595182427177009643 + r*(-1.88497979543377169875+r*1.621429720105354466140)) + ((r*r)*r)*(-0.758397934778766047437+r*0.145996192886612446982))
	t = math.Float64frombits((math.Float64bits(t) + 0x80000000) & 0xffffffffc0000000)
	s := t * t
	r = x / s
	w := t + t
	r = (r - t) / (w + r)
	return t + t*r
}
