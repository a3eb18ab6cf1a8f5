package intl

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Decimal is a number to format. The value of a finite Decimal is digits times 10 to the power of
// exp.
type Decimal struct {
	negative  bool
	infinite  bool
	notNumber bool
	digits    []byte // '0' to '9' without leading zeros; empty for zero
	exp       int
}

// maxExponent is the maximum exponent of a number that is parsed from text. Without this limit, the
// text 1e999999999 would be formatted with a billion digits.
const maxExponent = 1000

// NewFloat returns the shortest Decimal that parses as x.
func NewFloat(x float64) Decimal {
	d := Decimal{negative: math.Signbit(x)}
	switch {
	case math.IsNaN(x):
		return Decimal{notNumber: true}
	case math.IsInf(x, 0):
		d.infinite = true
		return d
	}
	text := strconv.AppendFloat(nil, math.Abs(x), 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(string(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exp, _ = strconv.Atoi(exponent)
	d.exp -= len(fraction)
	d.digits = []byte(whole + fraction)
	d.trim()
	return d
}

// exact returns the exact value of the float whose shortest representation is d. If the float is
// not an integer, exact returns d.
func (d *Decimal) exact() Decimal {
	f, _, err := big.ParseFloat(string(d.digits)+"e"+strconv.Itoa(d.exp), 10, 53, big.ToNearestEven)
	if err != nil || !f.IsInt() {
		return *d
	}
	whole, _ := f.Int(nil)
	return NewInteger(whole.String())
}

// NewInteger converts the text of an integer to a Decimal. The text consists of decimal digits and
// an optional minus sign.
func NewInteger(text string) Decimal {
	digits, negative := strings.CutPrefix(text, "-")
	d := Decimal{negative: negative, digits: []byte(digits)}
	d.trim()
	return d
}

// ParseDecimal parses a decimal literal such as "-1.5e3". ok is false if the text is not a decimal
// literal or the exponent is too large.
func ParseDecimal(text string) (d Decimal, ok bool) {
	text, d.negative = strings.CutPrefix(text, "-")
	if !d.negative {
		text = strings.TrimPrefix(text, "+")
	}
	if text == "Infinity" {
		d.infinite = true
		return d, true
	}
	mantissa, exponent, has := strings.Cut(strings.ToLower(text), "e")
	if has {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxExponent || n < -maxExponent {
			return Decimal{}, false
		}
		d.exp = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits = []byte(whole + fraction)
	d.exp -= len(fraction)
	if len(d.digits) == 0 {
		return Decimal{}, false
	}
	for _, c := range d.digits {
		if c < '0' || c > '9' {
			return Decimal{}, false
		}
	}
	d.trim()
	return d, true
}

// FitsFloat reports whether the conversion of a text to the float x was free of overflow and
// underflow.
func FitsFloat(text string, x float64) bool {
	if x != 0 && !math.IsInf(x, 0) {
		return true
	}
	return !strings.ContainsAny(text, "eE") || strings.Contains(text, "Infinity") || strings.Trim(text, " 0.eE+-") == ""
}

// trim removes zeros from both ends of the digits.
func (d *Decimal) trim() {
	start := 0
	for start < len(d.digits) && d.digits[start] == '0' {
		start++
	}
	end := len(d.digits)
	for end > start && d.digits[end-1] == '0' {
		end--
		d.exp++
	}
	d.digits = d.digits[start:end]
	if len(d.digits) == 0 {
		d.exp = 0
	}
}

func (d *Decimal) zero() bool { return len(d.digits) == 0 && d.finite() }

func (d *Decimal) finite() bool { return !d.infinite && !d.notNumber }

// magnitude returns the exponent of the first digit. For example, the magnitude of 500 is 2.
func (d *Decimal) magnitude() int {
	if len(d.digits) == 0 {
		return 0
	}
	return len(d.digits) - 1 + d.exp
}

// roundTo rounds d to a multiple of increment*10^place.
func (d *Decimal) roundTo(place int, mode string, increment int) {
	if !d.finite() || len(d.digits) == 0 {
		return
	}
	if increment > 1 {
		d.roundToIncrement(place, mode, increment)
		return
	}
	cut := place - d.exp
	if cut <= 0 {
		return
	}
	var kept []byte
	half := -1 // the removed digits compared with half a unit of the last place
	last := byte('0')
	if cut <= len(d.digits) {
		kept = append([]byte(nil), d.digits[:len(d.digits)-cut]...)
		rest := d.digits[len(d.digits)-cut:]
		half = compareHalf(rest)
		if len(kept) > 0 {
			last = kept[len(kept)-1]
		}
	}
	if roundsUp(mode, d.negative, half, (last-'0')%2 == 1) {
		kept = increased(kept)
	}
	d.digits, d.exp = kept, place
	d.trim()
}

// compareHalf compares a fraction with 0.5. The argument contains the digits that follow the
// decimal point.
func compareHalf(rest []byte) int {
	switch {
	case rest[0] > '5':
		return 1
	case rest[0] < '5':
		return -1
	}
	for _, c := range rest[1:] {
		if c != '0' {
			return 1
		}
	}
	return 0
}

// roundsUp reports whether rounding increases the absolute value. At least one of the removed
// digits must not be zero.
func roundsUp(mode string, negative bool, half int, odd bool) bool {
	switch mode {
	case "ceil":
		return !negative
	case "floor":
		return negative
	case "expand":
		return true
	case "trunc":
		return false
	}
	if half != 0 {
		return half > 0
	}
	switch mode {
	case "halfCeil":
		return !negative
	case "halfFloor":
		return negative
	case "halfTrunc":
		return false
	case "halfEven":
		return odd
	}
	return true // halfExpand
}

func increased(digits []byte) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	return append([]byte{'1'}, digits...)
}

func (d *Decimal) roundToIncrement(place int, mode string, increment int) {
	value, _ := new(big.Int).SetString(string(d.digits), 10)
	unit := big.NewInt(int64(increment))
	if shift := place - d.exp; shift > 0 {
		unit.Mul(unit, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), nil))
	} else {
		value.Mul(value, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-shift)), nil))
	}
	quotient, rest := new(big.Int).QuoRem(value, unit, new(big.Int))
	if rest.Sign() == 0 {
		return
	}
	half := rest.Lsh(rest, 1).Cmp(unit)
	if roundsUp(mode, d.negative, half, quotient.Bit(0) == 1) {
		quotient.Add(quotient, big.NewInt(1))
	}
	d.digits = []byte(quotient.Mul(quotient, big.NewInt(int64(increment))).String())
	d.exp = place
	d.trim()
}

// places returns the digits before the decimal point and the digits after the decimal point. places
// omits unnecessary zeros.
func (d *Decimal) places() (integer, fraction string) {
	if len(d.digits) == 0 {
		return "", ""
	}
	if d.exp >= 0 {
		return string(d.digits) + strings.Repeat("0", d.exp), ""
	}
	if point := len(d.digits) + d.exp; point > 0 {
		return string(d.digits[:point]), string(d.digits[point:])
	}
	return "", strings.Repeat("0", -d.exp-len(d.digits)) + string(d.digits)
}
