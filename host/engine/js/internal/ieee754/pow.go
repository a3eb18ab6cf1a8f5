package ieee754

import "math"

// Pow implements Math.pow.
func Pow(x, y float64) float64 {
	hx, lx := words(x)
	hy, _ := words(y)
	ix, iy := hx&0x7fffffff, hy&0x7fffffff
	switch {
	case y == 0:
		return 1
	case x != x || y != y:
		return math.NaN()
	case math.IsInf(y, 0):
		return powInf(math.Abs(x), y)
	case y == 1:
		return x
	case y == -1:
		return 1 / x
	case y == 2:
		return x * x
	case y == 0.5 && hx >= 0:
		return math.Sqrt(x)
	}
	ax, sign := math.Abs(x), 1.0
	if hx < 0 && parity(y) == odd {
		sign = -1
	}
	switch {
	case lx == 0 && (ix == 0x7ff00000 || ix == 0 || ix == 0x3ff00000): // infinite, 0 or 1
		if hx < 0 && ix == 0x3ff00000 && parity(y) == fraction {
			return math.NaN()
		}
		if hy < 0 {
			ax = 1 / ax
		}
		return sign * ax
	case hx < 0 && parity(y) == fraction:
		return math.NaN()
	case iy > 0x41e00000 && (ix < 0x3fefffff || ix > 0x3ff00000 || iy > 0x43f00000): // overflow or underflow
		if (ix >= 0x3ff00000) == (hy > 0) {
			return sign * math.Inf(1)
		}
		return sign * 0
	}
	t1, t2 := powLog2(ax, iy)
	return sign * powExp2(y, t1, t2)
}

func powInf(ax, y float64) float64 {
	switch {
	case ax == 1:
		return math.NaN()
	case (ax > 1) == (y > 0):
		return math.Inf(1)
	}
	return 0
}

// The results of the function "parity".
const (
	fraction = iota
	odd
	even
)

func parity(y float64) int {
	switch {
	case y != math.Trunc(y):
		return fraction
	case math.Mod(y, 2) != 0:
		return odd
	}
	return even
}

// powLog2 returns the base-2 logarithm of ax as the sum of two numbers. Only half of the digits of
// the first number are used. The argument iy contains the high 32 bits of the power's exponent.
func powLog2(ax float64, iy int32) (t1, t2 float64) {
	const (
		l1, l2, l3                = 5.99999999999994648725e-01, 4.28571428578550184252e-01, 3.33333329818377432918e-01
		l4, l5, l6                = 2.72728123808534006489e-01, 2.30660745775561754067e-01, 2.06975017800338417784e-01
		cp, cpHi, cpLo            = 9.61796693925975554329e-01, 9.61796700954437255859e-01, -7.02846165095275826516e-09
		dpHi, dpLo                = 5.84962487220764160156e-01, 1.35003920212974897128e-08
		ivln2, ivHi, ivLo         = 1.44269504088896338700e+00, 1.44269502162933349609e+00, 1.92596299112661746887e-08
		third, two53      float64 = 0.3333333333333333333333, 1 << 53
	)
	ix, _ := words(ax)
	if iy > 0x41e00000 { // ax is near 1
		t := ax - 1
		w := (t * t) * (0.5 - t*(third-t*0.25))
		u, v := ivHi*t, t*ivLo-w*ivln2
		t1 = highOnly(u + v)
		return t1, v - (t1 - u)
	}
	n := int32(0)
	if ix < 0x00100000 {
		ax *= two53
		n = -53
		ix, _ = words(ax)
	}
	n += ix>>20 - 0x3ff
	j := ix & 0x000fffff
	ix = j | 0x3ff00000
	k, bp, hi, lo := int32(0), 1.0, 0.0, 0.0
	switch {
	case j > 0x3988E && j < 0xBB67A:
		k, bp, hi, lo = 1, 1.5, dpHi, dpLo
	case j >= 0xBB67A:
		n++
		ix -= 0x00100000
	}
	ax = withHigh(ax, ix)
	u, v := ax-bp, 1/(ax+bp)
	ss := u * v
	sh := highOnly(ss)
	th := fromWords(((ix>>1)|0x20000000)+0x00080000+k<<18, 0)
	tl := ax - (th - bp)
	sl := v * ((u - sh*th) - sh*tl)
	s2 := ss * ss
	r := s2 * s2 * (l1 + s2*(l2+s2*(l3+s2*(l4+s2*(l5+s2*l6)))))
	r += sl * (sh + ss)
	s2 = sh * sh
	th = highOnly(3 + s2 + r)
	tl = r - ((th - 3) - s2)
	u, v = sh*th, sl*th+tl*ss
	ph := highOnly(u + v)
	pl := v - (ph - u)
	zh, zl, t := cpHi*ph, cpLo*ph+pl*cp+lo, float64(n)
	t1 = highOnly(((zh + zl) + hi) + t)
	return t1, zl - (((t1 - t) - hi) - zh)
}

// powExp2 returns 2 to the power of y*(t1+t2).
func powExp2(y, t1, t2 float64) float64 {
	const (
		p1, p2, p3      = 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05
		p4, p5          = -1.65339022054652515390e-06, 4.13813679705723846039e-08
		lg2, lg2h, lg2l = 6.93147180559945286227e-01, 6.93147182464599609375e-01, -1.90465429995776804525e-09
		overflow        = 8.0085662595372944372e-17
	)
	y1 := highOnly(y)
	pl, ph := (y-y1)*t1+y*t2, y1*t1
	z := pl + ph
	j, i := words(z)
	switch {
	case j >= 0x40900000 && (j != 0x40900000 || i != 0 || pl+overflow > z-ph): // 1024 and more
		return math.Inf(1)
	case j&0x7fffffff >= 0x4090cc00 && j < 0 && (uint32(j) != 0xc090cc00 || i != 0 || pl <= z-ph): // -1075 and less
		return 0
	}
	n := int32(0)
	if abs := j & 0x7fffffff; abs > 0x3fe00000 {
		n = j + 0x00100000>>uint(abs>>20-0x3ff+1)
		k := uint((n&0x7fffffff)>>20 - 0x3ff)
		ph -= fromWords(n&^(0x000fffff>>k), 0)
		n = (n&0x000fffff | 0x00100000) >> (20 - k)
		if j < 0 {
			n = -n
		}
	}
	t := highOnly(pl + ph)
	u := t * lg2h
	v := (pl-(t-ph))*lg2 + t*lg2l
	z = u + v
	w := v - (z - u)
	t = z * z
	t1 = z - t*(p1+t*(p2+t*(p3+t*(p4+t*p5))))
	r := (z * t1) / ((t1 - 2) - (w + z*w)) // here V8 deviates from fdlibm
	z = 1 - (r - z)
	if j, _ = words(z); (j+n<<20)>>20 <= 0 {
		return math.Ldexp(z, int(n))
	}
	return withHigh(z, j+n<<20)
}
