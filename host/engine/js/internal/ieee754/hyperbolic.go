package ieee754

import "math"

// Sinh implements Math.sinh.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	h := math.Copysign(0.5, x)
	switch {
	case x != x || math.IsInf(x, 0):
		return x
	case a < 22:
		if a < 1.0/(1<<28) {
			return x
		}
		t := math.Expm1(a)
		if a < 1 {
			return h * (2*t - t*t/(t+1))
		}
		return h * (t + t/(t+1))
	case a < 709.7822265633562805:
		return h * Exp(a)
	case a <= 710.4758600739439:
		w := Exp(0.5 * a)
		return (h * w) * w
	}
	return x * math.Inf(1)
}

// Cosh implements Math.cosh.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	ix, _ := words(a)
	switch {
	case a < 22:
		if ix < 0x3fd62e43 {
			t := math.Expm1(a)
			w := 1 + t
			if ix < 0x3c800000 {
				return w
			}
			return 1 + (t*t)/(w+w)
		}
		t := Exp(a)
		return 0.5*t + 0.5/t
	case a < 709.7822265633562805:
		return 0.5 * Exp(a)
	case a <= 710.4758600739439:
		w := Exp(0.5 * a)
		return (0.5 * w) * w
	}
	return a * math.Inf(1)
}

// Tanh implements Math.tanh.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	ix, _ := words(a)
	var z float64
	switch {
	case x != x:
		return x
	case ix >= 0x40360000:
		z = 1
	case ix < 0x3e300000:
		return x
	case a >= 1:
		z = 1 - 2/(math.Expm1(2*a)+2)
	default:
		t := math.Expm1(-2 * a)
		z = -t / (t + 2)
	}
	return math.Copysign(z, x)
}

// Asinh implements Math.asinh.
func Asinh(x float64) float64 {
	ix, _ := words(math.Abs(x))
	a := math.Abs(x)
	var w float64
	switch {
	case ix >= 0x7ff00000:
		return x + x
	case ix < 0x3e300000:
		return x
	case ix > 0x41b00000:
		w = Log(a) + math.Ln2
	case ix > 0x40000000:
		w = Log(2*a + 1/(math.Sqrt(x*x+1)+a))
	default:
		t := x * x
		w = math.Log1p(a + t/(1+math.Sqrt(1+t)))
	}
	return math.Copysign(w, x)
}

// Acosh implements Math.acosh.
func Acosh(x float64) float64 {
	switch {
	case x < 1 || x != x:
		return math.NaN()
	case x == 1:
		return 0
	case x >= 1<<28:
		return Log(x) + math.Ln2
	case x > 2:
		return Log(2*x - 1/(x+math.Sqrt(x*x-1)))
	}
	t := x - 1
	return math.Log1p(t + math.Sqrt(2*t+t*t))
}
