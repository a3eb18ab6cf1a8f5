package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits on host names (RFC 1035, section 2.3.4).
const (
	maxHost  = 253
	maxLabel = 63
)

// isHostname reports whether s is a host name (RFC 1123) whose Punycode labels are valid (RFC
// 5890).
func isHostname(s string) bool {
	if len(s) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isASCIILabel(label) {
			return false
		}
	}
	return true
}

// isInternationalHost reports whether s is a host name in any script (RFC 5890).
func isInternationalHost(s string) bool {
	if len(s) > 4*maxHost || !utf8.ValidString(s) {
		return false
	}
	size := -1 // no dot follows the last label
	for label := range strings.SplitSeq(fullStops.Replace(s), ".") {
		length := len(label)
		switch ascii := isASCII(label); {
		case ascii && !isASCIILabel(label), !ascii && !isUnicodeLabel(label):
			return false
		case !ascii && utf8.RuneCountInString(label) > maxLabel: // encoding takes time quadratic in the length
			return false
		case !ascii:
			length = len(encodedPrefix) + len(encodePunycode(label))
		}
		size += length + 1
		if length > maxLabel || size > maxHost {
			return false
		}
	}
	return true
}

// fullStops contains the characters that separate labels in scripts other than Latin.
var fullStops = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// encodedPrefix is the prefix of a Punycode label.
const encodedPrefix = "xn--"

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// isASCIILabel reports whether s is a label that consists of ASCII letters, digits and hyphens.
func isASCIILabel(s string) bool {
	if s == "" || len(s) > maxLabel || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	if len(s) < 4 || s[2:4] != "--" {
		return true
	}
	if !strings.EqualFold(s[:4], encodedPrefix) {
		return false
	}
	encoded := strings.ToLower(s[len(encodedPrefix):])
	text, ok := decodePunycode(encoded)
	return ok && !isASCII(text) && isUnicodeLabel(text) && encodePunycode(text) == encoded
}

// isUnicodeLabel reports whether s is a label that is not ASCII (RFC 5891, section 4.2.3).
func isUnicodeLabel(s string) bool {
	runes := []rune(s)
	switch {
	case runes[0] == '-' || runes[len(runes)-1] == '-':
		return false
	case len(runes) >= 4 && runes[2] == '-' && runes[3] == '-':
		return false
	case unicode.Is(unicode.M, runes[0]):
		return false
	}
	for i, r := range runes {
		if !isLabelRune(r) && !inContext(runes, i) {
			return false
		}
	}
	return true
}

// These are the exceptions in RFC 5892, section 2.6, without the exceptions that depend on the
// context.
var (
	labelAllowed = []rune{0xdf, 0x3c2, 0x6fd, 0x6fe, 0xf0b, 0x3007}
	labelRefused = []rune{0x640, 0x7fa, 0x302e, 0x302f, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303b}
)

// isLabelRune reports whether a rune is allowed anywhere in a label (RFC 5892). isLabelRune does
// not detect runes that are compatibility forms of other runes.
func isLabelRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '-' || isDigit(byte(r)) || 'a' <= r && r <= 'z'
	case slices.Contains(labelAllowed, r):
		return true
	case slices.Contains(labelRefused, r), isArabicDigit(r), isExtendedDigit(r):
		return false
	case 0x1100 <= r && r <= 0x11ff, 0xa960 <= r && r <= 0xa97f, 0xd7b0 <= r && r <= 0xd7ff: // old Hangul
		return false
	}
	return unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Nd, unicode.Mn, unicode.Mc)
}

func isArabicDigit(r rune) bool   { return 0x660 <= r && r <= 0x669 }
func isExtendedDigit(r rune) bool { return 0x6f0 <= r && r <= 0x6f9 }

// viramas are the marks that join two letters in Indic scripts.
var viramas = []rune{
	0x94d, 0x9cd, 0xa4d, 0xacd, 0xb4d, 0xbcd, 0xc4d, 0xccd, 0xd3b, 0xd3c, 0xd4d, 0xdca, 0xe3a, 0xeba, 0xf84, 0x1039, 0x103a,
	0x1714, 0x1734, 0x17d2, 0x1a60, 0x1b44, 0x1baa, 0x1bab, 0x1bf2, 0x1bf3, 0x2d7f, 0xa806, 0xa8c4, 0xa953, 0xa9c0, 0xaaf6, 0xabed,
}

// inContext reports whether a rune is allowed next to its neighbors (RFC 5892, appendix A).
func inContext(label []rune, i int) bool {
	before, after := rune(-1), rune(-1)
	if i > 0 {
		before = label[i-1]
	}
	if i+1 < len(label) {
		after = label[i+1]
	}
	switch r := label[i]; {
	case r == 0x200c && unicode.Is(unicode.Arabic, before) && unicode.Is(unicode.Arabic, after):
		return true
	case r == 0x200c, r == 0x200d: // zero width joiners
		return slices.Contains(viramas, before)
	case r == 0xb7: // middle dot
		return before == 'l' && after == 'l'
	case r == 0x375: // Greek keraia
		return unicode.Is(unicode.Greek, after)
	case r == 0x5f3, r == 0x5f4: // Hebrew geresh and gershayim
		return unicode.Is(unicode.Hebrew, before)
	case r == 0x30fb: // Katakana middle dot
		return slices.ContainsFunc(label, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
	case isArabicDigit(r):
		return !slices.ContainsFunc(label, isExtendedDigit)
	case isExtendedDigit(r):
		return !slices.ContainsFunc(label, isArabicDigit)
	}
	return false
}

// isInternationalEmail reports whether s is an email address in any script (RFC 6531).
func isInternationalEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 || !utf8.ValidString(s) {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"' {
		return isInternationalHost(domain)
	}
	return strings.IndexFunc(local, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`()<>[]:;@\,"`, r) }) < 0 && isInternationalHost(domain)
}
