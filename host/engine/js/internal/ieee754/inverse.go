package ieee754

import "math"

// The numbers pi/2 and pi/4. Each number is split into a high part and a low part.
const (
	pio2Hi = 1.57079632679489655800e+00
	pio2Lo = 6.12323399573676603587e-17
	pio4Hi = 7.85398163397448278999e-01
)

func asinRatio(t float64) float64 {
	p := t * (1.66666666666666657415e-01 + t*(-3.25565818622400915405e-01+t*(2.01212532134862925881e-01+t*(-4.00555345006794114027e-02+t*(7.91534994289814532176e-04+t*3.47933107596021167570e-05)))))
	q := 1 + t*(-2.40339491173441421878e+00+t*(2.02094576023350569471e+00+t*(-6.88283971605453293030e-01+t*7.70381505559019352791e-02)))
	return p / q
}

// Asin implements Math.asin.
func Asin(x float64) float64 {
	a := math.Abs(x)
	ix, _ := words(a)
	switch {
	case a == 1:
		return x*pio2Hi + x*pio2Lo
	case a > 1 || x != x:
		return math.NaN()
	case ix < 0x3e400000:
		return x
	case ix < 0x3fe00000:
		return x + x*asinRatio(x*x)
	}
	t := (1 - a) * 0.5
	r, s := asinRatio(t), math.Sqrt(t)
	if ix >= 0x3FEF3333 {
		t = pio2Hi - (2*(s+s*r) - pio2Lo)
	} else {
		w := highOnly(s)
		c := (t - w*w) / (s + w)
		p := 2*s*r - (pio2Lo - 2*c)
		q := pio4Hi - 2*w
		t = pio4Hi - (p - q)
	}
	return math.Copysign(t, x)
}

// Acos implements Math.acos.
func Acos(x float64) float64 {
	a := math.Abs(x)
	ix, _ := words(a)
	switch {
	case x == 1:
		return 0
	case x == -1:
		return math.Pi
	case a > 1 || x != x:
		return math.NaN()
	case ix <= 0x3c600000:
		return pio2Hi + pio2Lo
	case ix < 0x3fe00000:
		return pio2Hi - (x - (pio2Lo - x*asinRatio(x*x)))
	case x < 0:
		z := (1 + x) * 0.5
		s := math.Sqrt(z)
		w := asinRatio(z)*s - pio2Lo
		return math.Pi - 2*(s+w)
	}
	z := (1 - x) * 0.5
	s := math.Sqrt(z)
	df := highOnly(s)
	c := (z - df*df) / (s + df)
	return 2 * (df + (asinRatio(z)*s + c))
}

// atanHi and atanLo contain the arctangents of the base points. atanHi contains the high parts, and
// atanLo the low parts. aT contains the coefficients of the series for the arctangent.
var (
	atanHi = [4]float64{4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01, 1.57079632679489655800e+00}
	atanLo = [4]float64{2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, 6.12323399573676603587e-17}
	aT     = [11]float64{3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02}
)

// Atan implements Math.atan.
func Atan(x float64) float64 {
	a := math.Abs(x)
	ix, _ := words(a)
	id := -1
	v := x
	switch {
	case x != x:
		return x
	case ix >= 0x44100000:
		return math.Copysign(atanHi[3]+atanLo[3], x)
	case ix < 0x3e400000:
		return x
	case ix < 0x3fdc0000:
	case ix < 0x3fe60000:
		id, v = 0, (2*a-1)/(2+a)
	case ix < 0x3ff30000:
		id, v = 1, (a-1)/(a+1)
	case ix < 0x40038000:
		id, v = 2, (a-1.5)/(1+1.5*a)
	default:
		id, v = 3, -1/a
	}
	z := v * v
	w := z * z
	s1 := z * (aT[0] + w*(aT[2]+w*(aT[4]+w*(aT[6]+w*(aT[8]+w*aT[10])))))
	s2 := w * (aT[1] + w*(aT[3]+w*(aT[5]+w*(aT[7]+w*aT[9]))))
	if id < 0 {
		return v - v*(s1+s2)
	}
	return math.Copysign(atanHi[id]-((v*(s1+s2)-atanLo[id])-v), x)
}

// Atan2 implements Math.atan2.
func Atan2(y, x float64) float64 {
	const piLo = 1.2246467991473531772e-16
	if x != x || y != y || x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.Atan2(y, x)
	}
	if x == 1 {
		return Atan(y)
	}
	hx, _ := words(x)
	hy, _ := words(y)
	k := (hy&0x7fffffff - hx&0x7fffffff) >> 20
	var z float64
	neg := hx < 0
	switch {
	case k > 60:
		z, neg = pio2Hi+0.5*piLo, false
	case neg && k < -60:
		z = 0
	default:
		z = Atan(math.Abs(y / x))
	}
	switch {
	case !neg && hy >= 0:
		return z
	case !neg:
		return -z
	case hy >= 0:
		return math.Pi - (z - piLo)
	}
	return (z - piLo) - math.Pi
}
