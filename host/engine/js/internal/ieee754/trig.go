package ieee754

import "math"

// Sin implements Math.sin.
func Sin(x float64) float64 {
	n, y0, y1 := remPio2(x)
	small := y0 == x && n == 0
	switch n & 3 {
	case 0:
		return kernelSin(y0, y1, small)
	case 1:
		return kernelCos(y0, y1)
	case 2:
		return -kernelSin(y0, y1, small)
	}
	return -kernelCos(y0, y1)
}

// Cos implements Math.cos.
func Cos(x float64) float64 {
	n, y0, y1 := remPio2(x)
	switch n & 3 {
	case 0:
		return kernelCos(y0, y1)
	case 1:
		return -kernelSin(y0, y1, false)
	case 2:
		return -kernelCos(y0, y1)
	}
	return kernelSin(y0, y1, false)
}

// Tan implements Math.tan.
func Tan(x float64) float64 {
	n, y0, y1 := remPio2(x)
	return kernelTan(y0, y1, n&1 == 1)
}

func kernelSin(x, y float64, small bool) float64 {
	const s1, s2, s3, s4, s5, s6 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
	if ix, _ := words(math.Abs(x)); ix < 0x3e400000 {
		return x
	}
	z := x * x
	v := z * x
	r := s2 + z*(s3+z*(s4+z*(s5+z*s6)))
	if small {
		return x + v*(s1+z*r)
	}
	return x - ((z*(0.5*y-v*r) - y) - v*s1)
}

func kernelCos(x, y float64) float64 {
	const c1, c2, c3, c4, c5, c6 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11
	ix, _ := words(math.Abs(x))
	if ix < 0x3e400000 {
		return 1
	}
	z := x * x
	r := z * (c1 + z*(c2+z*(c3+z*(c4+z*(c5+z*c6)))))
	if ix < 0x3FD33333 {
		return 1 - (0.5*z - (z*r - x*y))
	}
	qx := 0.28125
	if ix <= 0x3fe90000 {
		qx = fromWords(ix-0x00200000, 0)
	}
	iz := 0.5*z - qx
	return (1 - qx) - (iz - (z*r - x*y))
}

func kernelTan(x, y float64, odd bool) float64 {
	T := [13]float64{3.33333333333334091986e-01, 1.33333333333201242699e-01, 5.39682539762260521377e-02, 2.18694882948595424599e-02, 8.86323982359930005737e-03, 3.59207910759131235356e-03, 1.45620945432529025516e-03, 5.88041240820264096874e-04, 2.46463134818469906812e-04, 7.81794442939557092300e-05, 7.14072491382608190305e-05, -1.85586374855275456654e-05, 2.59073051863633712884e-05}
	hx, _ := words(x)
	ix := hx & 0x7fffffff
	inverse := func(w, x, r float64) float64 {
		z := highOnly(w)
		v := r - (z - x)
		a := -1 / w
		t := highOnly(a)
		s := 1 + t*z
		return t + a*(s+t*v)
	}
	if ix < 0x3e300000 {
		if !odd {
			return x
		}
		return inverse(x+y, x, y)
	}
	if ix >= 0x3FE59428 {
		if x < 0 {
			x, y = -x, -y
		}
		x = (pio4Hi - x) + (3.06161699786838301793e-17 - y)
		y = 0
	}
	z := x * x
	w := z * z
	r := T[1] + w*(T[3]+w*(T[5]+w*(T[7]+w*(T[9]+w*T[11]))))
	v := z * (T[2] + w*(T[4]+w*(T[6]+w*(T[8]+w*(T[10]+w*T[12])))))
	s := z * x
	r = y + z*(s*(r+v)+y)
	r += T[0] * s
	w = x + r
	if ix >= 0x3FE59428 {
		v := 1.0
		if odd {
			v = -1
		}
		got := v - 2*(x-(w*w/(w+v)-r))
		if hx < 0 {
			return -got
		}
		return got
	}
	if !odd {
		return w
	}
	return inverse(w, x, r)
}
