package intl

import (
	"slices"
	"strings"
	"time"
)

// DateTimeFormat implements Intl.DateTimeFormat, which formats dates and times.
type DateTimeFormat struct {
	locale               locale
	name                 string // the name of the locale, with the effective extensions
	system               string
	digits               []string // nil for ASCII
	zone                 zone
	hourCycle            string // "" if the pattern has no hour
	dateStyle, timeStyle string
	pattern              []item
	shown                []Option // the components, for resolvedOptions
}

// Defaults is a rule for options without components. If all components in Required are missing, the
// DateTimeFormat gets the components in Defaults.
type Defaults struct{ Required, Defaults string }

// The defaults for the constructor DateTimeFormat and for methods of Date.
var (
	DefaultsOfConstructor = Defaults{"any", "date"}
	DefaultsOfDateTime    = Defaults{"any", "all"}
	DefaultsOfDate        = Defaults{"date", "date"}
	DefaultsOfTime        = Defaults{"time", "time"}
)

// component is an option of DateTimeFormat that requests a part of a date or a time. component
// contains the option's values, and the skeleton letters for each value.
type component struct {
	name    string
	values  []string
	letters []string
}

var components = []component{
	{"weekday", []string{"narrow", "long", "short"}, []string{"EEEEE", "EEEE", "EEE"}},
	{"era", []string{"narrow", "long", "short"}, []string{"GGGGG", "GGGG", "GGG"}},
	{"year", []string{"2-digit", "numeric"}, []string{"yy", "y"}},
	{"month", []string{"narrow", "long", "short", "2-digit", "numeric"}, []string{"MMMMM", "MMMM", "MMM", "MM", "M"}},
	{"day", []string{"2-digit", "numeric"}, []string{"dd", "d"}},
	{"dayPeriod", []string{"narrow", "long", "short"}, []string{"BBBBB", "BBBB", "B"}},
	{"hour", []string{"2-digit", "numeric"}, []string{"jj", "j"}},
	{"minute", []string{"2-digit", "numeric"}, []string{"mm", "m"}},
	{"second", []string{"2-digit", "numeric"}, []string{"ss", "s"}},
	{"fractionalSecondDigits", nil, nil},
	{"timeZoneName", []string{"long", "short", "longOffset", "shortOffset", "longGeneric", "shortGeneric"}, []string{"zzzz", "z", "OOOO", "O", "vvvv", "v"}},
}

// dateOptions contains the options that the guest passed to the constructor.
type dateOptions struct {
	values         map[string]string // of components
	fractionDigits int
	hour12         *bool
	hourCycle      string
	style, time    string // dateStyle and timeStyle
	calendar       string
}

// NewDateTimeFormat returns a DateTimeFormat for the options of the Intl.DateTimeFormat
// constructor. The argument "local" is the default time zone.
func NewDateTimeFormat(tags []Tag, o Options, defaults Defaults, local *time.Location) (*DateTimeFormat, error) {
	f := &DateTimeFormat{}
	provided, zoneName, system, err := readDateOptions(o)
	if err != nil {
		return nil, err
	}
	if err := provided.fits(defaults); err != nil {
		return nil, err
	}
	if f.locale, err = negotiate(tags); err != nil {
		return nil, err
	}
	var nu string
	if f.system, nu, err = f.locale.numberingSystem(system); err != nil {
		return nil, err
	}
	if f.system != "latn" {
		f.digits = digitsOf(f.system)
	}
	ca, err := f.locale.calendar(provided.calendar)
	if err != nil {
		return nil, err
	}
	if f.zone = localZone(local); zoneName != "" {
		if f.zone, err = zoneOf(zoneName); err != nil {
			return nil, err
		}
	}
	if err := provided.applyDefaults(defaults); err != nil {
		return nil, err
	}
	hc, err := f.choosePattern(provided)
	if err != nil {
		return nil, err
	}
	f.name = resolvedName(f.locale.name, keyword{"ca", ca}, keyword{"hc", hc}, keyword{"nu", nu})
	return f, nil
}

func readDateOptions(o Options) (d dateOptions, zone, system string, err error) {
	d.values = map[string]string{}
	if err = matcher(o, "DateTimeFormat"); err != nil {
		return d, "", "", err
	}
	if calendar, ok := o.Text("calendar"); ok {
		if !isKeywordType(calendar) {
			return d, "", "", rangeErrorf("Invalid calendar : %s", quoted(calendar))
		}
		d.calendar = strings.ToLower(calendar)
	}
	if system, err = systemOption(o); err != nil {
		return d, "", "", err
	}
	if hour12, ok := o.Bool("hour12"); ok {
		d.hour12 = &hour12
	}
	if d.hourCycle, err = choice(o, "DateTimeFormat", "hourCycle", "", "h11", "h12", "h23", "h24"); err != nil {
		return d, "", "", err
	}
	zone, hasZone := o.Text("timeZone")
	if hasZone && zone == "" {
		return d, "", "", rangeErrorf("Invalid time zone specified: ")
	}
	for _, c := range components {
		if c.name == "fractionalSecondDigits" {
			d.fractionDigits, _, err = whole(o, c.name, 1, 3, 0)
		} else if value, e := choice(o, "DateTimeFormat", c.name, "", c.values...); value != "" || e != nil {
			d.values[c.name], err = value, e
		}
		if err != nil {
			return d, "", "", err
		}
	}
	if _, err = choice(o, "DateTimeFormat", "formatMatcher", "", "basic", "best fit"); err != nil {
		return d, "", "", err
	}
	if d.style, err = choice(o, "DateTimeFormat", "dateStyle", "", "full", "long", "medium", "short"); err != nil {
		return d, "", "", err
	}
	d.time, err = choice(o, "DateTimeFormat", "timeStyle", "", "full", "long", "medium", "short")
	return d, zone, system, err
}

// fits rejects a time style if only a date is formatted, and a date style if only a time is
// formatted.
func (d *dateOptions) fits(defaults Defaults) error {
	if defaults.Required == "date" && d.time != "" {
		return typeErrorf("Invalid option : timeStyle")
	}
	if defaults.Required == "time" && d.style != "" {
		return typeErrorf("Invalid option : dateStyle")
	}
	return nil
}

// applyDefaults adds the default components if all required components are missing.
func (d *dateOptions) applyDefaults(defaults Defaults) error {
	if d.style != "" || d.time != "" {
		for _, c := range components {
			if d.values[c.name] != "" || c.name == "fractionalSecondDigits" && d.fractionDigits > 0 {
				return typeErrorf("Can't set option %s when %s is used", c.name, map[bool]string{true: "dateStyle", false: "timeStyle"}[d.style != ""])
			}
		}
		return nil
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return d.values[name] != "" })
	}
	dates := has("weekday", "year", "month", "day")
	times := has("dayPeriod", "hour", "minute", "second") || d.fractionDigits > 0
	if dates && defaults.Required != "time" || times && defaults.Required != "date" {
		return nil
	}
	if defaults.Defaults != "time" {
		d.values["year"], d.values["month"], d.values["day"] = "numeric", "numeric", "numeric"
	}
	if defaults.Defaults != "date" {
		d.values["hour"], d.values["minute"], d.values["second"] = "numeric", "numeric", "numeric"
	}
	return nil
}

var calendars = strings.Fields(`buddhist chinese coptic dangi ethioaa ethiopic gregory hebrew indian islamic islamic-civil
	islamic-rgsa islamic-tbla islamic-umalqura iso8601 japanese persian roc islamicc ethiopic-amete-alem`)

// calendar checks the requested calendar. Only the Gregorian calendar is supported. The method
// returns the calendar's extension for the name of the resolved locale.
func (l locale) calendar(option string) (extension string, err error) {
	requested := ""
	for _, name := range []string{option, l.extension("ca")} {
		if name != "" && slices.Contains(calendars, name) {
			requested = name
			break
		}
	}
	if requested == "" {
		requested = firstOf(supplemental("calendar/"+l.region()), "gregory")
	}
	if requested != "gregory" {
		return "", unsupported("the calendar "+requested, `use the option calendar: "gregory"`)
	}
	if l.extension("ca") == "gregory" {
		extension = "gregory"
	}
	return extension, nil
}

var cycleLetters = map[string]byte{"h11": 'K', "h12": 'h', "h23": 'H', "h24": 'k'}

// choosePattern selects the pattern for the options. choosePattern also returns the "hc" extension
// for the name of the resolved locale.
func (f *DateTimeFormat) choosePattern(d dateOptions) (extension string, err error) {
	p := patternsOf(f.locale)
	cycle, extension := f.cycle(d, p)
	var pattern string
	if d.style != "" || d.time != "" {
		f.dateStyle, f.timeStyle = d.style, d.time
		pattern = f.stylePattern(d, p, cycle)
	} else {
		if d.values["timeZoneName"] == "longGeneric" || d.values["timeZoneName"] == "shortGeneric" {
			return "", unsupported("the timeZoneName "+d.values["timeZoneName"], `use "long", "short" or an offset`)
		}
		pattern = replaceHours(p.best(d.skeleton(cycle)), cycle)
	}
	f.pattern = items(pattern)
	f.hourCycle = ""
	for _, it := range f.pattern {
		for name, letter := range cycleLetters {
			if it.letter == letter {
				f.hourCycle = name
			}
		}
	}
	if f.hourCycle == "" || f.hourCycle != extension {
		extension = ""
	}
	f.resolveComponents(pattern)
	return extension, nil
}

// cycle selects the hour cycle.
func (f *DateTimeFormat) cycle(d dateOptions, p *patterns) (cycle, extension string) {
	usual := map[byte]string{'K': "h11", 'h': "h12", 'H': "h23", 'k': "h24"}[p.hourChar]
	if d.hour12 != nil { // in some locales, hours count from 0
		fromZero := usual == "h11" || usual == "h23"
		switch {
		case *d.hour12 && fromZero:
			return "h11", ""
		case *d.hour12:
			return "h12", ""
		case fromZero:
			return "h23", ""
		}
		return "h24", ""
	}
	if d.hourCycle != "" {
		extension = f.locale.extension("hc")
		if extension != d.hourCycle {
			extension = ""
		}
		return d.hourCycle, extension
	}
	if hc := f.locale.extension("hc"); cycleLetters[hc] != 0 {
		return hc, hc
	}
	return usual, ""
}

func (d *dateOptions) skeleton(cycle string) string {
	var b strings.Builder
	for _, c := range components {
		if c.name == "fractionalSecondDigits" {
			b.WriteString(strings.Repeat("S", d.fractionDigits))
			continue
		}
		if i := slices.Index(c.values, d.values[c.name]); i >= 0 {
			b.WriteString(strings.ReplaceAll(c.letters[i], "j", string(cycleLetters[cycle])))
		}
	}
	return b.String()
}

// replaceHours replaces each hour letter of a pattern with the letter for a given hour cycle.
func replaceHours(pattern, cycle string) string {
	var b strings.Builder
	last := byte(0)
	quoted := false
	for i := range len(pattern) {
		c := pattern[i]
		switch c {
		case '\'':
			quoted = !quoted
		case 'H', 'h', 'K', 'k':
			if !quoted {
				if last == 'd' {
					b.WriteByte(' ')
				}
				c = cycleLetters[cycle]
			}
		}
		b.WriteByte(c)
		last = pattern[i]
	}
	return b.String()
}

// stylePattern returns the pattern for the options dateStyle and timeStyle.
func (f *DateTimeFormat) stylePattern(d dateOptions, p *patterns, cycle string) string {
	t := f.locale.table
	date, clock := t.get("date/"+d.style), t.get("time/"+d.time)
	if d.time == "" {
		return date
	}
	pattern := clock
	if d.style != "" {
		glue := firstOf(t.get("attime/"+d.style), t.get("datetime/"+d.style))
		pattern = strings.NewReplacer("{1}", date, "{0}", clock).Replace(glue)
	}
	list := items(pattern)
	if slices.ContainsFunc(list, func(it item) bool { return it.letter == cycleLetters[cycle] }) {
		return pattern
	}
	var skeleton strings.Builder
	for _, it := range list {
		switch it.letter {
		case 0, 'a', 'b', 'B':
		case 'h', 'H', 'k', 'K':
			skeleton.WriteString(strings.Repeat(string(cycleLetters[cycle]), it.count))
		default:
			skeleton.WriteString(strings.Repeat(string(it.letter), it.count))
		}
	}
	return replaceHours(p.best(skeleton.String()), cycle)
}
