package intl

import (
	"slices"
	"strconv"
	"strings"
)

// RelativeTimeFormat implements Intl.RelativeTimeFormat, which formats times such as "in 3 days".
type RelativeTimeFormat struct {
	locale                       locale
	name, style, numeric, system string
	number                       *NumberFormat
	plurals                      *pluralRules
}

// relativeUnits contains the names of the units of relative times. A guest can also pass the plural
// of a name.
var relativeUnits = []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}

// NewRelativeTimeFormat returns a RelativeTimeFormat for the options of the Intl.RelativeTimeFormat
// constructor.
func NewRelativeTimeFormat(tags []Tag, o Options) (*RelativeTimeFormat, error) {
	if err := matcher(o, "RelativeTimeFormat"); err != nil {
		return nil, err
	}
	system, err := systemOption(o)
	if err != nil {
		return nil, err
	}
	f := &RelativeTimeFormat{}
	if f.style, err = choice(o, "RelativeTimeFormat", "style", "long", "long", "short", "narrow"); err != nil {
		return nil, err
	}
	if f.numeric, err = choice(o, "RelativeTimeFormat", "numeric", "always", "always", "auto"); err != nil {
		return nil, err
	}
	if f.number, err = NewNumberFormat(tags, systemOnly(system)); err != nil {
		return nil, err
	}
	f.number.rounding.mode = "halfEven" // as in Node
	f.locale, f.name, f.system, f.plurals = f.number.locale, f.number.name, f.number.system, f.number.plurals
	return f, nil
}

// systemOnly implements Options and contains only one option, the numbering system.
type systemOnly string

func (s systemOnly) Text(name string) (string, bool) {
	return string(s), name == "numberingSystem" && s != ""
}
func (systemOnly) Bool(string) (value, ok bool)                          { return false, false }
func (systemOnly) Number(string) (float64, bool)                         { return 0, false }
func (systemOnly) BoolOrText(string) (text string, isBool bool, ok bool) { return "", false, false }

// Format formats a relative time as a string.
func (f *RelativeTimeFormat) Format(d Decimal, unit string) (string, error) {
	parts, err := f.Parts(d, unit)
	return Join(parts), err
}

// Parts formats a relative time as a list of parts.
func (f *RelativeTimeFormat) Parts(d Decimal, unit string) ([]Part, error) {
	name := strings.TrimSuffix(unit, "s")
	if !slices.Contains(relativeUnits, name) {
		return nil, rangeErrorf("Invalid unit argument for Intl.RelativeTimeFormat.prototype.format() '%s'", quoted(unit))
	}
	if !d.finite() {
		return nil, rangeErrorf("Value need to be finite number for Intl.RelativeTimeFormat.prototype.format()")
	}
	field := "field/" + name
	if f.style != "long" {
		field += "-" + f.style
	}
	if text := f.named(d, field); text != "" {
		return []Part{{Type: "literal", Value: text}}, nil
	}
	if f.plurals.unsure(d) {
		return nil, errUnsure()
	}
	when := "future"
	if d.negative {
		when = "past"
	}
	d.negative = false
	category := f.category(d)
	base := field + "/relativeTime-type-" + when + "/relativeTimePattern-count-"
	pattern := firstOf(f.locale.table.get(base+category), f.locale.table.get(base+"other"))
	number, err := f.number.Parts(d)
	if err != nil {
		return nil, err
	}
	for i := range number {
		number[i].Unit = name
	}
	before, after, found := strings.Cut(pattern, "{0}")
	if !found {
		return []Part{{Type: "literal", Value: pattern}}, nil
	}
	var parts []Part
	if before != "" {
		parts = append(parts, Part{Type: "literal", Value: before})
	}
	parts = append(parts, number...)
	if after != "" {
		parts = append(parts, Part{Type: "literal", Value: after})
	}
	return parts, nil
}

// named returns the word for a relative time, such as "yesterday". If no such word exists, the
// method returns "". Like ICU, the method treats a number that is almost an integer as an integer.
func (f *RelativeTimeFormat) named(d Decimal, field string) string {
	d.digits = slices.Clone(d.digits)
	d.roundTo(-2, "halfExpand", 1)
	if f.numeric != "auto" || len(d.digits) > 1 || d.exp != 0 {
		return ""
	}
	n := 0
	if len(d.digits) == 1 {
		n = int(d.digits[0] - '0')
	}
	if d.negative {
		n = -n
	}
	return f.locale.table.get(field + "/relative-type-" + strconv.Itoa(n))
}

func (f *RelativeTimeFormat) category(d Decimal) string {
	d.digits = slices.Clone(d.digits)
	minFraction := f.number.rounding.apply(&d)
	integer, fraction := d.places()
	return f.plurals.of(operands{integer: integer, fraction: padded(fraction, minFraction)})
}

// padded adds trailing zeros until there are at least n digits.
func padded(digits string, n int) string {
	return digits + strings.Repeat("0", max(0, n-len(digits)))
}

// Resolved returns the result of resolvedOptions: the options that the RelativeTimeFormat uses.
func (f *RelativeTimeFormat) Resolved() []Option {
	return []Option{{"locale", f.name}, {"style", f.style}, {"numeric", f.numeric}, {"numberingSystem", f.system}}
}
