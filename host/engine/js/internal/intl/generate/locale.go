package main

import (
	"slices"
	"strings"
)

// locale returns the table of a locale.
func (s *source) locale(name string) table {
	t := table{}
	s.dates(t, name)
	s.numbers(t, name)
	s.units(t, name)
	s.lists(t, name)
	return t
}

func (s *source) dates(t table, name string) {
	calendar := s.read("cldr-dates-full/main/"+name+"/ca-gregorian.json", "main", name, "dates", "calendars", "gregorian")
	for _, part := range []string{"months", "days", "dayPeriods"} {
		flatten(t, part, calendar[part], func(path string) bool {
			return !strings.Contains(path, "/short/") && !strings.Contains(path, "-alt-")
		})
	}
	for _, width := range []string{"eraNames", "eraAbbr", "eraNarrow"} {
		eras := at(calendar, "eras", width)
		for _, era := range []string{"0", "1"} {
			flatten(t, "eras/"+width+"/"+era, eras[era], nil)
		}
	}
	for part, short := range map[string]string{"dateFormats": "date", "timeFormats": "time", "dateTimeFormats": "datetime"} {
		formats := at(calendar, part)
		for _, style := range []string{"full", "long", "medium", "short"} {
			flatten(t, short+"/"+style, formats[style], nil)
		}
	}
	flatten(t, "attime", at(calendar, "dateTimeFormats-atTime", "standard"), nil)
	flatten(t, "available", at(calendar, "dateTimeFormats", "availableFormats"), func(path string) bool {
		return !strings.Contains(path, "-alt-") && !strings.Contains(path, "-count-") && !strings.ContainsAny(path[len("available/"):], "wWQ")
	})
	flatten(t, "append", at(calendar, "dateTimeFormats", "appendItems"), nil)
	fields := s.read("cldr-dates-full/main/"+name+"/dateFields.json", "main", name, "dates", "fields")
	for _, field := range []string{"era", "year", "quarter", "month", "week", "day", "weekday", "dayperiod", "hour", "minute", "second", "zone"} {
		for _, width := range []string{"", "-short", "-narrow"} {
			flatten(t, "field/"+field+width, fields[field+width], func(path string) bool {
				return width == "" || !strings.HasSuffix(path, "/displayName")
			})
		}
	}
	s.zones(t, name)
}

func (s *source) zones(t table, name string) {
	zones := s.read("cldr-dates-full/main/"+name+"/timeZoneNames.json", "main", name, "dates", "timeZoneNames")
	for _, part := range []string{"hourFormat", "gmtFormat", "gmtZeroFormat"} {
		flatten(t, "zone/"+part, zones[part], nil)
	}
	kept := func(path string) bool {
		return strings.HasSuffix(path, "/standard") || strings.HasSuffix(path, "/daylight")
	}
	flatten(t, "metazone", zones["metazone"], kept)
	flatten(t, "zonename", zones["zone"], kept)
}

func (s *source) numbers(t table, name string) {
	numbers := s.read("cldr-numbers-full/main/"+name+"/numbers.json", "main", name, "numbers")
	flatten(t, "numbers/system", numbers["defaultNumberingSystem"], nil)
	flatten(t, "numbers/minimumGroupingDigits", numbers["minimumGroupingDigits"], nil)
	systems := []string{"latn", numbers["defaultNumberingSystem"].(string)}
	slices.Sort(systems)
	for _, system := range slices.Compact(systems) {
		for _, part := range []string{"symbols", "decimalFormats", "scientificFormats", "percentFormats", "currencyFormats", "miscPatterns"} {
			flatten(t, "numbers/"+system+"/"+part, numbers[part+"-numberSystem-"+system], func(path string) bool {
				return !strings.Contains(path, "-noCurrency")
			})
		}
	}
	currencies := s.read("cldr-numbers-full/main/"+name+"/currencies.json", "main", name, "numbers", "currencies")
	current := s.currentCurrencies()
	for _, code := range sortedKeys(currencies) {
		flatten(t, "currency/"+code, currencies[code], func(path string) bool {
			return !strings.Contains(path, "alt-variant") && !strings.Contains(path, "alt-formal") &&
				(current[code] || !strings.Contains(path, "displayName"))
		})
		if t["currency/"+code+"/symbol"] == code {
			delete(t, "currency/"+code+"/symbol")
		}
	}
	dropPlurals(t, "currency/", "/displayName-count-")
}

// dropPlurals removes a plural form if its text equals the text of the form "other". The form
// "other" is the fallback for a missing form.
func dropPlurals(t table, prefix, middle string) {
	for path, value := range t {
		before, category, ok := strings.Cut(path, middle)
		if !ok || !strings.HasPrefix(path, prefix) {
			continue
		}
		if category != "other" && value == t[before+middle+"other"] {
			delete(t, path)
		}
		delete(t, before+"/displayName")
	}
}

func (s *source) lists(t table, name string) {
	lists := s.read("cldr-misc-full/main/"+name+"/listPatterns.json", "main", name, "listPatterns")
	for _, list := range sortedKeys(lists) {
		flatten(t, "list/"+strings.TrimPrefix(list, "listPattern-type-"), lists[list], nil)
	}
}

// simpleUnits contains the units that ECMA-402 allows.
var simpleUnits = strings.Fields(`acre bit byte celsius centimeter day degree fahrenheit fluid-ounce foot gallon gigabit
	gigabyte gram hectare hour inch kilobit kilobyte kilogram kilometer liter megabit megabyte meter microsecond mile
	mile-scandinavian milliliter millimeter millisecond minute month nanosecond ounce percent petabyte pound second stone
	terabit terabyte week yard year
	kilometer-per-hour mile-per-hour meter-per-second mile-per-gallon liter-per-kilometer`)

func (s *source) units(t table, name string) {
	units := s.read("cldr-units-full/main/"+name+"/units.json", "main", name, "units")
	for _, width := range []string{"long", "short", "narrow"} {
		entries := at(units, width)
		flatten(t, "unit/"+width+"/per", at(entries, "per")["compoundUnitPattern"], nil)
		for _, entry := range sortedKeys(entries) {
			_, unit, _ := strings.Cut(entry, "-")
			if !slices.Contains(simpleUnits, unit) || entry == "duration-day-person" {
				continue
			}
			flatten(t, "unit/"+width+"/"+unit, entries[entry], func(path string) bool {
				return strings.Contains(path, "unitPattern-count-") && strings.Count(path, "count") == 1 && !strings.Contains(path, "-case-") ||
					strings.HasSuffix(path, "/perUnitPattern")
			})
		}
	}
	dropPlurals(t, "unit/", "/unitPattern-count-")
}
