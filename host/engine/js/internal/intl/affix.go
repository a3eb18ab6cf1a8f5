package intl

import "strings"

// numberPattern is a parsed CLDR pattern, such as "¤#,##0.00;(¤#,##0.00)". numberPattern does not
// contain the placeholders for the digits.
type numberPattern struct {
	positive, negative affixes
	hasNegative        bool
	primary, secondary int // sizes of groups of digits; 0 disables grouping
	zeros              int // the number of zeros in a compact pattern
}

// affixes contains the prefix and the suffix of a number in CLDR syntax.
type affixes struct{ prefix, suffix string }

func parsePattern(text string) numberPattern {
	positive, negative, hasNegative := cutPattern(text)
	p := numberPattern{hasNegative: hasNegative}
	var body string
	p.positive, body = parseAffixes(positive)
	if hasNegative {
		p.negative, _ = parseAffixes(negative)
	}
	whole, _, _ := strings.Cut(body, ".")
	groups := strings.Split(whole, ",")
	if n := len(groups); n > 1 {
		p.primary = len(groups[n-1])
		p.secondary = p.primary
		if n > 2 {
			p.secondary = len(groups[n-2])
		}
	}
	p.zeros = strings.Count(body, "0")
	return p
}

// cutPattern splits a pattern at the first unquoted semicolon.
func cutPattern(text string) (positive, negative string, ok bool) {
	inQuotes := false
	for i := range len(text) {
		switch {
		case text[i] == '\'':
			inQuotes = !inQuotes
		case text[i] == ';' && !inQuotes:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

func parseAffixes(text string) (a affixes, body string) {
	inQuotes := false
	start, end := -1, 0
	for i := range len(text) {
		c := text[i]
		if c == '\'' {
			inQuotes = !inQuotes
		}
		if inQuotes || !strings.ContainsRune("#0,.@", rune(c)) {
			continue
		}
		if start >= 0 && end != i {
			break // the dot belongs to the suffix
		}
		if start < 0 {
			start = i
		}
		end = i + 1
	}
	if start < 0 {
		return affixes{text, ""}, ""
	}
	return affixes{text[:start], text[end:]}, text[start:end]
}

// The signs that a pattern can have.
const (
	signNone = iota
	signMinus
	signPlus
)

// affixesOf returns the prefix and the suffix for numbers with a sign. The prefix or the suffix
// contains the sign. If the sign is plus and the pattern contains only a minus sign, affixesOf
// replaces the minus sign with a plus sign.
func (p numberPattern) affixesOf(sign int) affixes {
	plus := sign == signPlus && !hasUnquoted(p.positive.prefix+p.positive.suffix, '+')
	useNegative := p.hasNegative && (sign == signMinus ||
		plus && hasUnquoted(p.negative.prefix+p.negative.suffix, '-'))
	a := p.positive
	if useNegative {
		a = p.negative
	} else if sign == signMinus || plus {
		a.prefix = "-" + a.prefix
	}
	if plus {
		a.prefix, a.suffix = minusToPlus(a.prefix), minusToPlus(a.suffix)
	}
	return a
}

func hasUnquoted(text string, c byte) bool {
	inQuotes := false
	for i := range len(text) {
		if text[i] == '\'' {
			inQuotes = !inQuotes
		}
		if text[i] == c && !inQuotes {
			return true
		}
	}
	return false
}

func minusToPlus(text string) string {
	b := []byte(text)
	inQuotes := false
	for i := range b {
		if b[i] == '\'' {
			inQuotes = !inQuotes
		}
		if b[i] == '-' && !inQuotes {
			b[i] = '+'
		}
	}
	return string(b)
}

// affixParts splits an affix into parts. Plain text in the affix becomes parts with the type in the
// argument "literal".
func (f *NumberFormat) affixParts(text, literal, currency string) (parts []Part) {
	inQuotes := false
	runes := []rune(text)
	plain := func(r rune) {
		if n := len(parts); n > 0 && parts[n-1].Type == literal {
			parts[n-1].Value += string(r)
			return
		}
		parts = append(parts, Part{Type: literal, Value: string(r)})
	}
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\'' && i+1 < len(runes) && runes[i+1] == '\'':
			plain('\'')
			i++
		case r == '\'':
			inQuotes = !inQuotes
		case inQuotes:
			plain(r)
		case r == '-':
			parts = append(parts, Part{Type: "minusSign", Value: f.symbol("minusSign")})
		case r == '+':
			parts = append(parts, Part{Type: "plusSign", Value: f.symbol("plusSign")})
		case r == '%':
			parts = append(parts, Part{Type: "percentSign", Value: f.symbol("percentSign")})
		case r == '¤':
			for i+1 < len(runes) && runes[i+1] == '¤' {
				i++
			}
			parts = append(parts, Part{Type: "currency", Value: currency})
		default:
			plain(r)
		}
	}
	return parts
}
