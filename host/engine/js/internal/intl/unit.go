package intl

import (
	"slices"
	"strings"
)

// simpleUnits contains the units that ECMA-402 allows. Two of these units can be joined with
// "-per-".
var simpleUnits = strings.Fields(`acre bit byte celsius centimeter day degree fahrenheit fluid-ounce foot gallon gigabit
	gigabyte gram hectare hour inch kilobit kilobyte kilogram kilometer liter megabit megabyte meter microsecond mile
	mile-scandinavian milliliter millimeter millisecond minute month nanosecond ounce percent petabyte pound second stone
	terabit terabyte week yard year`)

func isUnit(unit string) bool {
	first, second, compound := strings.Cut(unit, "-per-")
	return slices.Contains(simpleUnits, first) && (!compound || slices.Contains(simpleUnits, second))
}

// withUnit adds a unit to a formatted number.
func (f *NumberFormat) withUnit(number []Part, unit, category string) []Part {
	rest := func(text string) []Part { return []Part{{Type: "unit", Value: text}} }
	if pattern := f.unitPattern(unit, category); pattern != "" {
		return fillUnit(pattern, number, rest)
	}
	first, second, _ := strings.Cut(unit, "-per-")
	pattern := f.unitPattern(first, category)
	base := "unit/" + f.unitDisplay + "/"
	if per := f.locale.table.get(base + second + "/perUnitPattern"); per != "" {
		return fillUnit(strings.Replace(per, "{0}", pattern, 1), number, rest)
	}
	below := strings.TrimSpace(strings.Replace(f.unitPattern(second, "one"), "{0}", "", 1))
	per := strings.Replace(f.locale.table.get(base+"per"), "{1}", below, 1)
	return fillUnit(strings.Replace(per, "{0}", pattern, 1), number, rest)
}

func (f *NumberFormat) unitPattern(unit, category string) string {
	base := "unit/" + f.unitDisplay + "/" + unit + "/unitPattern-count-"
	return firstOf(f.locale.table.get(base+category), f.locale.table.get(base+"other"))
}
