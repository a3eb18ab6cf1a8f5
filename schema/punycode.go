package schema

import (
	"math"
	"strings"
	"unicode/utf8"
)

// These are the parameters of Punycode (RFC 3492, section 5).
const (
	punyBase, punyMin, punyMax   = 36, 1, 26
	punySkew, punyDamp           = 38, 700
	punyFirstRune, punyFirstBias = 128, 72
)

// decodePunycode decodes a label without its prefix xn--, and reports whether it is well-formed.
// Callers must limit the length of the label.
func decodePunycode(s string) (string, bool) {
	plain, digits := "", s
	if dash := strings.LastIndexByte(s, '-'); dash >= 0 {
		plain, digits = s[:dash], s[dash+1:]
	}
	out := []rune(plain)
	n, i, bias := rune(punyFirstRune), 0, punyFirstBias
	for len(digits) > 0 {
		before, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if digits == "" {
				return "", false
			}
			digit := punyDigit(digits[0])
			digits = digits[1:]
			if digit < 0 || digit > (math.MaxInt32-i)/weight {
				return "", false
			}
			i += digit * weight
			t := threshold(k, bias)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return "", false
			}
			weight *= punyBase - t
		}
		bias = adapt(i-before, len(out)+1, before == 0)
		n += rune(i / (len(out) + 1))
		i %= len(out) + 1
		if n < 0 || n > utf8.MaxRune {
			return "", false
		}
		out = append(out[:i], append([]rune{n}, out[i:]...)...)
		i++
	}
	return string(out), true
}

// encodePunycode encodes a text as a label without the prefix xn--.
func encodePunycode(s string) string {
	text, out := []rune(s), []byte{}
	for _, r := range text {
		if r < punyFirstRune {
			out = append(out, byte(r))
		}
	}
	done := len(out)
	plain := done
	if plain > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(punyFirstRune), 0, punyFirstBias
	for done < len(text) {
		next := rune(math.MaxInt32)
		for _, r := range text {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range text {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				t := threshold(k, bias)
				if q < t {
					break
				}
				out = append(out, punyLetter(t+(q-t)%(punyBase-t)))
				q = (q - t) / (punyBase - t)
			}
			out = append(out, punyLetter(q))
			bias = adapt(delta, done+1, done == plain)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return string(out)
}

func threshold(k, bias int) int { return min(max(k-bias, punyMin), punyMax) }

func adapt(delta, points int, first bool) int {
	if delta /= 2; first {
		delta = delta * 2 / punyDamp
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

func punyDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c-'0') + 26
	case isLetter(c):
		return int(c | 0x20 - 'a')
	}
	return -1
}

func punyLetter(digit int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[digit] }
