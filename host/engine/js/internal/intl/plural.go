package intl

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// pluralRules contains the plural rules of a language. The rules are in the order in which CLDR
// evaluates them.
type pluralRules struct {
	categories []string
	conditions [][][]relation // the alternatives of each category
}

// relation is a condition "operand [% modulus] = or != ranges".
type relation struct {
	operand byte
	modulus int
	negated bool
	ranges  [][2]int
}

// operands contains the plural operands of a formatted number. UTS 35 defines these operands.
type operands struct {
	integer    string // the digits before the decimal point
	fraction   string // the digits after the decimal point, including trailing zeros
	compact    int    // the exponent in the compact notation
	infiniteOr bool   // the number is not finite, so its category is "other"
}

var pluralCategories = []string{"zero", "one", "two", "few", "many"}

var parsedPlurals sync.Map // maps kinds and languages to *pluralRules

// pluralsOf returns the plural rules of a language. The argument "kind" is "cardinal" or "ordinal".
func pluralsOf(kind, locale string) *pluralRules {
	language, _, _ := strings.Cut(locale, "-")
	if locale == "pt-PT" || strings.HasPrefix(locale, "pt-PT-") {
		language = "pt-PT"
	}
	if kind == "ordinal" && language == "pt-PT" {
		language = "pt"
	}
	if rules, ok := parsedPlurals.Load(kind + language); ok {
		return rules.(*pluralRules)
	}
	rules := &pluralRules{}
	for _, category := range pluralCategories {
		if text := supplemental("plural/" + kind + "/" + language + "/" + category); text != "" {
			rules.categories = append(rules.categories, category)
			rules.conditions = append(rules.conditions, parseCondition(text))
		}
	}
	parsedPlurals.Store(kind+language, rules)
	return rules
}

func parseCondition(text string) (or [][]relation) {
	for _, alternative := range strings.Split(text, " or ") {
		var and []relation
		for _, part := range strings.Split(alternative, " and ") {
			and = append(and, parseRelation(part))
		}
		or = append(or, and)
	}
	return or
}

func parseRelation(text string) (r relation) {
	left, right, _ := strings.Cut(text, "=")
	left, r.negated = strings.CutSuffix(left, "!")
	operand, modulus, _ := strings.Cut(left, "%")
	r.operand = strings.TrimSpace(operand)[0]
	r.modulus, _ = strconv.Atoi(strings.TrimSpace(modulus))
	for _, part := range strings.Split(right, ",") {
		low, high, ok := strings.Cut(strings.TrimSpace(part), "..")
		if !ok {
			high = low
		}
		first, _ := strconv.Atoi(low)
		last, _ := strconv.Atoi(high)
		r.ranges = append(r.ranges, [2]int{first, last})
	}
	return r
}

// shift multiplies the number by a power of ten. The argument is the exponent of the compact or
// scientific notation. Like ICU, the method does nothing if the exponent is negative.
func (o *operands) shift(exponent int) {
	o.compact = exponent
	for ; exponent > 0; exponent-- {
		digit := "0"
		if o.fraction != "" {
			digit, o.fraction = o.fraction[:1], o.fraction[1:]
		}
		o.integer += digit
	}
}

// The method "of" returns the plural category of a number.
func (p *pluralRules) of(o operands) string {
	if o.infiniteOr {
		return "other"
	}
	for i, alternatives := range p.conditions {
		for _, and := range alternatives {
			if allHold(and, o) {
				return p.categories[i]
			}
		}
	}
	return "other"
}

func allHold(and []relation, o operands) bool {
	for _, r := range and {
		if !r.holds(o) {
			return false
		}
	}
	return true
}

func (r relation) holds(o operands) bool {
	trimmed := strings.TrimRight(o.fraction, "0")
	var value int
	switch r.operand {
	case 'n':
		if trimmed != "" {
			return r.negated
		}
		value = r.reduced(o.integer)
	case 'i':
		value = r.reduced(o.integer)
	case 'v':
		value = len(o.fraction)
	case 'w':
		value = len(trimmed)
	case 'f':
		value = r.reduced(o.fraction)
	case 't':
		value = r.reduced(trimmed)
	case 'c', 'e':
		value = o.compact
	}
	if r.modulus > 0 && (r.operand == 'v' || r.operand == 'w' || r.operand == 'c' || r.operand == 'e') {
		value %= r.modulus
	}
	for _, in := range r.ranges {
		if in[0] <= value && value <= in[1] {
			return !r.negated
		}
	}
	return r.negated
}

// reduced returns the value of the argument "digits" modulo the modulus of the relation. If the
// relation has no modulus, reduced returns the value itself, or, for a large value, a number that
// exceeds all numbers in the rules.
func (r relation) reduced(digits string) int {
	const large = 1_000_000_000
	value := 0
	for i := range len(digits) {
		value = value*10 + int(digits[i]-'0')
		if r.modulus > 0 {
			value %= r.modulus
		} else if value > large {
			value = large
		}
	}
	return value
}

// simple reports whether the plural categories are independent of the last digits and the fraction
// of a number. In the compact notation, ICU changes the last digits.
func (p *pluralRules) simple() bool {
	for _, alternatives := range p.conditions {
		for _, and := range alternatives {
			if slices.ContainsFunc(and, func(r relation) bool {
				return r.operand == 'f' || r.operand == 't' || r.modulus > 0 && r.modulus < 1_000_000
			}) {
				return false
			}
		}
	}
	return true
}

// unsure reports whether ICU may select a category that does not match the rules. For a large
// number, ICU uses more digits than a float has, but at most 64 bits.
func (p *pluralRules) unsure(d Decimal) bool {
	if !d.finite() || d.magnitude() <= 15 {
		return false
	}
	whole := func(d Decimal) string {
		integer, _ := d.places()
		return p.of(operands{integer: integer})
	}
	form := whole(d)
	return form != whole(d.exact()) || d.magnitude() >= 18 && form != p.of(operands{})
}

// errUnsure returns the error for a number for which the method "unsure" returns true.
func errUnsure() error {
	return unsupported("the plural form of a number with more than 15 digits", "use a smaller number")
}
