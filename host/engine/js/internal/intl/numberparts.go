package intl

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Format formats a number as a string.
func (f *NumberFormat) Format(d Decimal) (string, error) {
	parts, err := f.Parts(d)
	return Join(parts), err
}

// Parts formats a number as a list of parts.
func (f *NumberFormat) Parts(d Decimal) ([]Part, error) {
	if err := f.check(d); err != nil {
		return nil, err
	}
	return f.parts(d), nil
}

// check returns an error for a number that ICU formats with special rules.
func (f *NumberFormat) check(d Decimal) error {
	if f.rounding.increment != 1 && (len(d.digits) > 15 || d.magnitude() > 14) {
		return unsupported("roundingIncrement for a number with more than 15 digits", "round the number first")
	}
	if f.rounding.increment != 1 && f.notation != "standard" {
		return unsupported("roundingIncrement in the notation "+f.notation, `use the notation "standard"`)
	}
	if f.style != "unit" && (f.style != "currency" || f.currencyDisplay != "name") {
		return nil
	}
	if f.plurals.unsure(d) || len(d.digits) > 15 && !f.plurals.simple() {
		return errUnsure()
	}
	if f.notation == "standard" {
		return nil
	}
	if d.magnitude() < 0 && f.notation != "compact" || f.notation == "compact" && !f.plurals.simple() {
		return unsupported("the notation "+f.notation+" of this number with the name of a unit or currency", `use the notation "standard"`)
	}
	return nil
}

func (f *NumberFormat) parts(d Decimal) []Part {
	if f.style == "percent" && len(d.digits) > 0 {
		d.exp += 2
	}
	d.digits = slices.Clone(d.digits)
	pattern, literal := f.pattern, "literal"
	exponent, minFraction := 0, 0
	switch {
	case !d.finite():
	case f.notation == "compact":
		pattern, literal, exponent, minFraction = f.compact(&d)
	case f.notation == "standard":
		minFraction = f.rounding.apply(&d)
	default:
		exponent, minFraction = f.scientific(&d)
	}
	number, shown := f.numberParts(d, pattern, minFraction)
	if f.notation == "scientific" || f.notation == "engineering" {
		number = append(number, f.exponentParts(d, exponent)...)
	}
	a := pattern.affixesOf(f.signOf(d))
	prefix := f.affixParts(a.prefix, literal, f.currencyText)
	suffix := f.affixParts(a.suffix, literal, f.currencyText)
	if f.style == "currency" && f.currencyDisplay != "name" {
		prefix, suffix = f.spaced(prefix, suffix, number)
	}
	parts := slices.Concat(prefix, number, suffix)
	shown.shift(exponent)
	switch {
	case f.style == "unit" && f.percentUnit():
		for i := range parts {
			if parts[i].Type == "percentSign" {
				parts[i].Type = "unit"
			}
		}
	case f.style == "unit":
		parts = f.withUnit(parts, f.unit, f.plurals.of(shown))
	case f.style == "percent" && f.notation == "compact":
		parts = f.withUnit(parts, "percent", f.plurals.of(shown))
	case f.style == "currency" && f.currencyDisplay == "name":
		parts = f.withCurrencyName(parts, f.plurals.of(shown))
	}
	return tidy(parts)
}

// signOf returns the sign to show for a rounded number.
func (f *NumberFormat) signOf(d Decimal) int {
	negative := d.negative
	switch f.sign {
	case "never":
		return signNone
	case "negative":
		negative = negative && !d.zero()
	case "exceptZero":
		if d.zero() || d.notNumber {
			return signNone
		}
		fallthrough
	case "always":
		if !negative {
			return signPlus
		}
	}
	if negative {
		return signMinus
	}
	return signNone
}

// numberParts formats the digits as a list of parts.
func (f *NumberFormat) numberParts(d Decimal, pattern numberPattern, minFraction int) ([]Part, operands) {
	if d.notNumber {
		return []Part{{Type: "nan", Value: f.symbol("nan")}}, operands{infiniteOr: true}
	}
	if d.infinite {
		return []Part{{Type: "infinity", Value: f.symbol("infinity")}}, operands{infiniteOr: true}
	}
	integer, fraction := d.places()
	shown := operands{integer: integer}
	if n := f.rounding.minInteger - len(integer); n > 0 {
		integer = strings.Repeat("0", n) + integer
	}
	if n := minFraction - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	shown.fraction = fraction
	parts := f.grouped(integer, pattern)
	if fraction != "" {
		parts = append(parts, Part{Type: "decimal", Value: f.decimalSymbol}, Part{Type: "fraction", Value: withDigits(fraction, f.digits)})
	}
	return parts, shown
}

// grouped splits the digits before the decimal point into groups.
func (f *NumberFormat) grouped(integer string, pattern numberPattern) []Part {
	primary, secondary := pattern.primary, pattern.secondary
	minimum := 1
	switch f.grouping {
	case "false":
		primary = 0
	case "auto":
		minimum = f.minimumGrouping
		if f.notation == "compact" { // as in Node
			minimum = max(2, minimum)
		}
	case "min2":
		minimum = max(2, f.minimumGrouping)
	case "always":
		if primary == 0 {
			primary, secondary = 3, 3
		}
	}
	if f.notation == "compact" && primary == 0 && f.grouping != "false" {
		p := parsePattern(f.locale.table.get("numbers/" + f.system + "/decimalFormats/standard"))
		primary, secondary = p.primary, p.secondary
	}
	if primary == 0 || len(integer) < primary+minimum {
		return []Part{{Type: "integer", Value: withDigits(integer, f.digits)}}
	}
	ends := []int{len(integer) - primary}
	for ends[len(ends)-1] > secondary {
		ends = append(ends, ends[len(ends)-1]-secondary)
	}
	var parts []Part
	start := 0
	for _, end := range slices.Backward(ends) {
		parts = append(parts, Part{Type: "integer", Value: withDigits(integer[start:end], f.digits)}, Part{Type: "group", Value: f.groupSymbol})
		start = end
	}
	return append(parts, Part{Type: "integer", Value: withDigits(integer[start:], f.digits)})
}

// scientific scales a number so that the exponent of the scientific notation can be shown
// separately. Rounding can change this exponent.
func (f *NumberFormat) scientific(d *Decimal) (exponent, minFraction int) {
	multiplier := func(magnitude int) int {
		shown := 1
		if f.notation == "engineering" {
			shown = (magnitude%3+3)%3 + 1
		}
		return shown - magnitude - 1
	}
	return f.scale(d, multiplier)
}

// scale multiplies a number by a power of ten and then rounds the number. The power of ten depends
// on the number's magnitude. The method returns the exponent by which the scaled number must be
// multiplied again.
func (f *NumberFormat) scale(d *Decimal, multiplier func(magnitude int) int) (exponent, minFraction int) {
	if d.zero() {
		return 0, f.rounding.apply(d)
	}
	magnitude := d.magnitude()
	by := multiplier(magnitude)
	d.exp += by
	minFraction = f.rounding.apply(d)
	if d.zero() || d.magnitude() == magnitude+by {
		return -by, minFraction
	}
	if again := multiplier(magnitude + 1); again != by {
		d.exp += again - by
		return -again, f.rounding.apply(d)
	}
	return -by, minFraction
}

func (f *NumberFormat) exponentParts(d Decimal, exponent int) []Part {
	if !d.finite() {
		return nil
	}
	parts := []Part{{Type: "exponentSeparator", Value: f.symbol("exponential")}}
	if exponent < 0 {
		parts = append(parts, Part{Type: "exponentMinusSign", Value: f.symbol("minusSign")})
		exponent = -exponent
	}
	return append(parts, Part{Type: "exponentInteger", Value: withDigits(strconv.Itoa(exponent), f.digits)})
}

// compact scales a number for the compact notation and returns its pattern.
func (f *NumberFormat) compact(d *Decimal) (pattern numberPattern, literal string, exponent, minFraction int) {
	multiplier := func(magnitude int) int {
		p := f.compactPattern(magnitude, "other")
		if p == "" || p == "0" {
			return 0
		}
		return parsePattern(p).zeros - min(magnitude, f.maxCompact) - 1
	}
	exponent, minFraction = f.scale(d, multiplier)
	integer, fraction := d.places()
	if n := minFraction - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	category := f.plurals.of(operands{integer: integer, fraction: fraction})
	text := ""
	if !d.zero() {
		if string(d.digits) == "1" && d.exp == 0 && minFraction == 0 {
			text = f.compactPattern(d.magnitude()+exponent, "1")
		}
		text = firstOf(text, f.compactPattern(d.magnitude()+exponent, category), f.compactPattern(d.magnitude()+exponent, "other"))
	}
	if text == "" || text == "0" {
		return f.pattern, "literal", 0, minFraction
	}
	return parsePattern(text), "compact", exponent, minFraction
}

// largestCompact returns the largest power of ten for which the locale has a compact form.
func (f *NumberFormat) largestCompact() (largest int) {
	f.maxCompact = 99
	for magnitude := 3; magnitude <= 20; magnitude++ {
		if f.compactPattern(magnitude, "other") != "" {
			largest = magnitude
		}
	}
	return largest
}

func (f *NumberFormat) compactPattern(magnitude int, category string) string {
	if magnitude < 3 {
		return ""
	}
	size := "1" + strings.Repeat("0", min(magnitude, f.maxCompact))
	base := "numbers/" + f.system + "/"
	if f.style == "currency" && f.currencyDisplay != "name" {
		return f.locale.table.get(base + "currencyFormats/short/standard/" + size + "-count-" + category)
	}
	return f.locale.table.get(base + "decimalFormats/" + f.compactDisplay + "/decimalFormat/" + size + "-count-" + category)
}

// spaced inserts a space between a currency and the digits if the adjacent character of the
// currency is not a symbol.
func (f *NumberFormat) spaced(prefix, suffix, number []Part) ([]Part, []Part) {
	if n := len(prefix); n > 0 && prefix[n-1].Type == "currency" && startsWithDigit(number) {
		runes := []rune(prefix[n-1].Value)
		if len(runes) > 0 && isCurrencyLetter(runes[len(runes)-1]) {
			prefix = append(prefix, Part{Type: "literal", Value: "\u00a0"})
		}
	}
	if len(suffix) > 0 && suffix[0].Type == "currency" && endsWithDigit(number) {
		runes := []rune(suffix[0].Value)
		if len(runes) > 0 && isCurrencyLetter(runes[0]) {
			suffix = append([]Part{{Type: "literal", Value: "\u00a0"}}, suffix...)
		}
	}
	return prefix, suffix
}

// isCurrencyLetter reports whether r is in CLDR's set [[:^S:]&[:^Z:]].
func isCurrencyLetter(r rune) bool { return !unicode.IsSymbol(r) && !unicode.In(r, unicode.Z) }

func startsWithDigit(parts []Part) bool {
	return len(parts) > 0 && unicode.IsDigit([]rune(parts[0].Value + " ")[0])
}

func endsWithDigit(parts []Part) bool {
	if len(parts) == 0 {
		return false
	}
	runes := []rune(" " + parts[len(parts)-1].Value)
	return unicode.IsDigit(runes[len(runes)-1])
}

// withCurrencyName adds the name of the currency to the number.
func (f *NumberFormat) withCurrencyName(number []Part, category string) []Part {
	base := "currency/" + f.currency + "/displayName"
	t := f.locale.table
	name := firstOf(t.get(base+"-count-"+category), t.get(base+"-count-other"), t.get(base), f.currency)
	pattern := "numbers/latn/currencyFormats/unitPattern-count-"
	return fillUnit(firstOf(t.get(pattern+category), t.get(pattern+"other")), number, func(text string) []Part {
		if before, after, found := strings.Cut(text, "{1}"); found {
			return []Part{{Type: "currency", Value: before + name + after}}
		}
		return []Part{{Type: "literal", Value: text}}
	})
}

// fillUnit inserts a number into a pattern. The function "rest" formats the text that the pattern
// contains before or after the number.
func fillUnit(pattern string, number []Part, rest func(text string) []Part) []Part {
	before, after, found := strings.Cut(pattern, "{0}")
	if !found {
		return rest(pattern)
	}
	return slices.Concat(rest(before), number, rest(after))
}

// tidy moves spaces and direction marks at the ends of parts into separate literals. tidy also
// joins adjacent literals.
func tidy(parts []Part) []Part {
	var out []Part
	literal := func(text string) {
		if n := len(out); n > 0 && out[n-1].Type == "literal" {
			out[n-1].Value += text
		} else if text != "" {
			out = append(out, Part{Type: "literal", Value: text})
		}
	}
	for _, p := range parts {
		switch p.Type {
		case "literal":
			literal(p.Value)
			continue
		case "group":
			out = append(out, p)
			continue
		}
		inner := strings.TrimLeftFunc(p.Value, isIgnorable)
		literal(p.Value[:len(p.Value)-len(inner)])
		core := strings.TrimRightFunc(inner, isIgnorable)
		if core != "" {
			out = append(out, Part{Type: p.Type, Value: core})
		}
		literal(inner[len(core):])
	}
	return out
}

// isIgnorable reports whether ICU excludes a character from the parts that are not literals.
func isIgnorable(r rune) bool {
	return r == '\t' || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Variation_Selector, r)
}
