package intl

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTime is the largest time value of a Date, in milliseconds.
const maxTime = 8.64e15

// Format formats a time, given in milliseconds since 1970, as a string. Since version 42, CLDR uses
// narrow spaces in some patterns. In Node, the method "format" replaces narrow spaces with plain
// spaces. The method formatToParts does not replace them.
func (f *DateTimeFormat) Format(ms float64) (string, error) {
	parts, err := f.Parts(ms)
	return strings.ReplaceAll(Join(parts), "\u202f", " "), err
}

// Parts formats a time, given in milliseconds since 1970, as a list of parts.
func (f *DateTimeFormat) Parts(ms float64) ([]Part, error) {
	if math.IsNaN(ms) || math.Abs(ms) > maxTime {
		return nil, rangeErrorf("Invalid time value")
	}
	t := time.UnixMilli(int64(ms)).In(f.zone.location)
	if err := f.zone.check(t); err != nil {
		return nil, err
	}
	var parts []Part
	for _, it := range f.pattern {
		p := Part{Type: "literal", Value: ""}
		if it.letter == 0 {
			p.Value = unquoted(it.text)
		} else {
			p.Type, p.Value = f.field(t, it)
		}
		if n := len(parts); n > 0 && p.Type == "literal" && parts[n-1].Type == "literal" {
			parts[n-1].Value += p.Value
			continue
		}
		if p.Value != "" {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// field formats one field of a pattern. The method returns the type of the part and the text.
func (f *DateTimeFormat) field(t time.Time, it item) (kind, text string) {
	switch it.letter {
	case 'G':
		return "era", f.era(t.Year(), it.count)
	case 'y', 'u', 'Y':
		year := t.Year()
		if year <= 0 && it.letter == 'y' {
			year = 1 - year
		}
		if it.count == 2 {
			return "year", f.number(year%100, 2)
		}
		return "year", f.number(year, it.count)
	case 'M':
		return "month", f.month(t, it.count, "format")
	case 'L':
		return "month", f.month(t, it.count, "stand-alone")
	case 'd':
		return "day", f.number(t.Day(), it.count)
	case 'E', 'e', 'c':
		return "weekday", f.weekday(t, it)
	case 'a':
		return "dayPeriod", f.half(t, it.count)
	case 'B', 'b':
		return "dayPeriod", f.dayPeriod(t, it.count)
	case 'H':
		return "hour", f.number(t.Hour(), it.count)
	case 'k':
		return "hour", f.number((t.Hour()+23)%24+1, it.count)
	case 'h':
		return "hour", f.number((t.Hour()+11)%12+1, it.count)
	case 'K':
		return "hour", f.number(t.Hour()%12, it.count)
	case 'm':
		return "minute", f.number(t.Minute(), it.count)
	case 's':
		return "second", f.number(t.Second(), it.count)
	case 'S':
		text := strconv.Itoa(1000 + t.Nanosecond()/1e6)[1:]
		return "fractionalSecond", withDigits(text[:min(it.count, 3)], f.digits)
	case 'z', 'O', 'v':
		return "timeZoneName", f.zoneName(t, it.letter, it.count)
	}
	return "literal", ""
}

func (f *DateTimeFormat) number(n, width int) string {
	text := strconv.Itoa(n)
	if pad := width - len(text); pad > 0 {
		text = strings.Repeat("0", pad) + text
	}
	return withDigits(text, f.digits)
}

func widthOf(count int) string {
	switch count {
	case 4:
		return "wide"
	case 5:
		return "narrow"
	}
	return "abbreviated"
}

func (f *DateTimeFormat) era(year, count int) string {
	width := map[string]string{"wide": "eraNames", "narrow": "eraNarrow", "abbreviated": "eraAbbr"}[widthOf(count)]
	era := "1"
	if year <= 0 {
		era = "0"
	}
	return f.locale.table.get("eras/" + width + "/" + era)
}

func (f *DateTimeFormat) month(t time.Time, count int, form string) string {
	if count < 3 {
		return f.number(int(t.Month()), count)
	}
	return f.locale.table.get("months/" + form + "/" + widthOf(count) + "/" + strconv.Itoa(int(t.Month())))
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func (f *DateTimeFormat) weekday(t time.Time, it item) string {
	form := "format"
	if it.letter == 'c' {
		form = "stand-alone"
	}
	return f.locale.table.get("days/" + form + "/" + widthOf(it.count) + "/" + weekdays[t.Weekday()])
}

// half returns the text for AM or PM.
func (f *DateTimeFormat) half(t time.Time, count int) string {
	width := "abbreviated"
	if count == 5 {
		width = "narrow"
	}
	half := "am"
	if t.Hour() >= 12 {
		half = "pm"
	}
	return f.locale.table.get("dayPeriods/format/" + width + "/" + half)
}

// dayPeriod returns a day period such as "in the morning".
func (f *DateTimeFormat) dayPeriod(t time.Time, count int) string {
	names := "dayPeriods/format/" + widthOf(count) + "/"
	rules := dayPeriodRules(f.locale.name)
	exact := (!f.has('m') || t.Minute() == 0) && (!f.has('s') || t.Second() == 0)
	for _, r := range rules {
		// Some day periods, such as noon and midnight, name a single hour. Node uses only noon.
		if r.at == 12 && t.Hour() == 12 && exact || r.at < 0 && r.holds(t.Hour()) {
			if name := f.locale.table.get(names + r.name); name != "" {
				return name
			}
		}
	}
	return f.half(t, count)
}

// The method "has" reports whether the pattern contains a field with a given letter.
func (f *DateTimeFormat) has(letter byte) bool {
	return slices.ContainsFunc(f.pattern, func(it item) bool { return it.letter == letter })
}

// dayPeriodRule is the rule for a day period. A day period is either one hour or a span of hours.
type dayPeriodRule struct {
	name     string
	at       int // -1 if the period is a span
	from, to int
}

func (r dayPeriodRule) holds(hour int) bool {
	if r.from < r.to {
		return r.from <= hour && hour < r.to
	}
	return hour >= r.from || hour < r.to
}

func dayPeriodRules(name string) (rules []dayPeriodRule) {
	hour := func(path string) int {
		text, _, _ := strings.Cut(supplemental(path), ":")
		n, err := strconv.Atoi(text)
		if err != nil {
			return -1
		}
		return n
	}
	for name != "" && len(rules) == 0 {
		base := "dayperiod/" + name + "/"
		var seen []string
		tableOf("").each(base, func(path, _ string) {
			period, _, _ := strings.Cut(path, "/")
			if !slices.Contains(seen, period) {
				seen = append(seen, period)
				rules = append(rules, dayPeriodRule{period, hour(base + period + "/_at"), hour(base + period + "/_from"), hour(base + period + "/_before")})
			}
		})
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	slices.SortStableFunc(rules, func(a, b dayPeriodRule) int { return b.at - a.at }) // noon comes first
	return rules
}

// Resolved returns the result of resolvedOptions: the options that the DateTimeFormat uses.
func (f *DateTimeFormat) Resolved() []Option {
	options := []Option{{"locale", f.name}, {"calendar", "gregory"}, {"numberingSystem", f.system}, {"timeZone", f.zone.name}}
	if f.hourCycle != "" {
		options = append(options, Option{"hourCycle", f.hourCycle}, Option{"hour12", f.hourCycle == "h11" || f.hourCycle == "h12"})
	}
	options = append(options, f.shown...)
	if f.dateStyle != "" {
		options = append(options, Option{"dateStyle", f.dateStyle})
	}
	if f.timeStyle != "" {
		options = append(options, Option{"timeStyle", f.timeStyle})
	}
	return options
}

// resolveComponents derives the components from the pattern. Node searches the whole pattern,
// including quoted text.
func (f *DateTimeFormat) resolveComponents(pattern string) {
	if f.dateStyle != "" || f.timeStyle != "" {
		return
	}
	for _, c := range components {
		if c.name == "fractionalSecondDigits" {
			if n := strings.Count(pattern, "S"); n > 0 {
				f.shown = append(f.shown, Option{c.name, min(n, 3)})
			}
			continue
		}
		if value := c.valueIn(pattern); value != "" {
			f.shown = append(f.shown, Option{c.name, value})
		}
	}
}

// synonyms maps the name of a component to its pattern letters. The letters are in the order in
// which Node searches for them.
var synonyms = map[string]string{"weekday": "Ec", "month": "ML", "hour": "HhkK", "dayPeriod": "Bb"}

// valueIn returns the value that a component has in a pattern. If the pattern does not contain the
// component, valueIn returns "".
func (c *component) valueIn(pattern string) string {
	letters := firstOf(synonyms[c.name], "-")
	for _, letter := range letters {
		for i, text := range c.letters {
			if letter != '-' {
				text = strings.Repeat(string(letter), len(text))
			}
			if strings.Contains(pattern, text) {
				return c.values[i]
			}
		}
	}
	return ""
}
