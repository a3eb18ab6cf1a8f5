package intl

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// patterns selects a locale's best pattern for a set of fields. ICU calls this type
// DateTimePatternGenerator.
type patterns struct {
	table    *table
	entries  []*patternEntry // the order decides if distances are equal
	appends  [fieldCount]string
	names    [fieldCount]string
	decimal  string
	hourChar byte // the region's preferred hour letter

	mu    sync.Mutex
	found map[string]string // patterns by skeleton
}

type patternEntry struct {
	base      string
	fields    skeleton
	pattern   string
	specified bool // true if the locale's data contains the skeleton
}

// maxFound is the maximum number of cached patterns per locale.
const maxFound = 100

var generators sync.Map // maps the names of locales to *patterns

// patternsOf returns the patterns of a locale.
func patternsOf(l locale) *patterns {
	if p, ok := generators.Load(l.name); ok {
		return p.(*patterns)
	}
	p := newPatterns(l)
	kept, _ := generators.LoadOrStore(l.name, p)
	return kept.(*patterns)
}

var appendKeys = [fieldCount]string{"Era", "Year", "Quarter", "Month", "Week", "", "Day-Of-Week", "", "", "Day", "", "Hour", "Minute", "Second", "", "Timezone"}

var nameKeys = [fieldCount]string{"era", "year", "quarter", "month", "week", "", "weekday", "", "", "day", "dayperiod", "hour", "minute", "second", "", "zone"}

func newPatterns(l locale) *patterns {
	t := l.table
	p := &patterns{table: t, found: map[string]string{}}
	system := t.get("numbers/system")
	p.decimal = t.get("numbers/" + system + "/symbols/decimal")
	for f := range fieldCount {
		p.appends[f] = firstOf(t.get("append/"+appendKeys[f]), "{0} ├{2}: {1}┤")
		p.names[f] = firstOf(t.get("field/"+nameKeys[f]+"/displayName"), "F"+strconv.Itoa(int(f)))
	}
	p.hourChar = 'H'
	if hours := firstOf(supplemental("hours/"+l.Language+"-"+l.region()), supplemental("hours/"+l.region())); hours != "" {
		p.hourChar = hours[0]
	}
	for _, letter := range "GyQMwWEDFdaHmsSv" {
		p.add(string(letter), "", false)
	}
	for _, style := range []string{"full", "long", "medium", "short"} {
		p.add(t.get("date/"+style), "", false)
		p.add(t.get("time/"+style), "", false)
	}
	p.addMinutes(t.get("time/short"))
	for own := t; own != nil; own = own.parent { // the locale's own patterns first
		own.eachOwn("available/", func(name, pattern string) { p.add(pattern, name, true) })
	}
	slices.SortStableFunc(p.entries, func(a, b *patternEntry) int { return int(a.base[0]) - int(b.base[0]) })
	return p
}

// addMinutes adds the pattern for minutes and seconds that a time pattern contains.
func (p *patterns) addMinutes(pattern string) {
	text := ""
	for _, it := range items(pattern) {
		switch {
		case it.letter == 'm':
			text = strings.Repeat("m", it.count)
		case text != "" && it.letter == 0:
			text += it.text
		case text != "" && it.letter == 's':
			p.add(text+strings.Repeat("s", it.count), "", false)
			return
		case text != "" || it.letter == 'z' || it.letter == 'Z' || it.letter == 'v' || it.letter == 'V':
			return
		}
	}
}

// add adds a pattern. If there is already a pattern with the same skeleton, the method keeps the
// existing pattern in two cases: override is false, or the locale's data contains both skeletons.
func (p *patterns) add(pattern, provided string, override bool) {
	if pattern == "" {
		return
	}
	fields := skeletonOf(firstOf(provided, pattern))
	base := fields.base()
	if base == "" {
		return
	}
	for _, e := range p.entries {
		if e.base == base && !e.specified && !override {
			return
		}
	}
	for _, e := range p.entries {
		if e.fields.letters != fields.letters || e.fields.lengths != fields.lengths {
			continue
		}
		if !override || provided != "" && e.specified {
			return
		}
	}
	for _, e := range p.entries {
		if e.base == base && e.fields.kinds == fields.kinds {
			e.pattern, e.specified = pattern, provided != ""
			return
		}
	}
	p.entries = append(p.entries, &patternEntry{base, fields, pattern, provided != ""})
}

// best returns the best pattern for a skeleton.
func (p *patterns) best(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.found[text]; ok {
		return found
	}
	if len(p.found) >= maxFound {
		clear(p.found)
	}
	found := p.compose(text)
	p.found[text] = found
	return found
}

func (p *patterns) compose(text string) string {
	s := skeletonOf(text)
	entry, missing, extra := p.nearest(&s, -1)
	if missing == 0 && extra == 0 {
		return p.adjust(entry, entry.pattern, &s, false)
	}
	const dates = 1<<fieldDayPeriod - 1
	date := p.appended(&s, s.mask()&dates)
	time := p.appended(&s, s.mask()&^dates)
	if date == "" || time == "" {
		return date + time
	}
	style := "short"
	switch s.lengths[fieldMonth] {
	case 4:
		style = "long"
		if s.lengths[fieldWeekday] > 0 {
			style = "full"
		}
	case 3:
		style = "medium"
	}
	glue := firstOf(p.table.get("attime/"+style), p.table.get("datetime/"+style))
	return strings.NewReplacer("{1}", date, "{0}", time).Replace(glue)
}

// nearest returns the pattern with the smallest distance. If several patterns have that distance,
// the method prefers the pattern that lacks smaller fields, such as seconds instead of hours.
func (p *patterns) nearest(s *skeleton, mask int) (entry *patternEntry, missing, extra int) {
	best, bestMissing := 1<<31-1, -1
	for _, e := range p.entries {
		distance, m, x := s.distance(&e.fields, mask)
		if distance < best || distance == best && bestMissing < m {
			best, bestMissing = distance, m
			entry, missing, extra = e, m, x
			if distance == 0 {
				break
			}
		}
	}
	// After ICU has found the nearest pattern, ICU searches for an entry with the letters of that
	// pattern. The search can find an earlier entry with the same letters.
	for _, e := range p.entries {
		if e.fields.letters == entry.fields.letters && e.fields.lengths == entry.fields.lengths {
			return e, missing, extra
		}
	}
	return entry, missing, extra
}

// appended returns a pattern for the given fields. If no pattern has all of them, appended combines
// two patterns. Like ICU, appended omits fields that neither of the two patterns contains.
func (p *patterns) appended(s *skeleton, fields int) string {
	if fields == 0 {
		return ""
	}
	const seconds, fraction = 1<<fieldSecond | 1<<fieldFraction, 1 << fieldFraction
	entry, missing, _ := p.nearest(s, fields)
	result := p.adjust(entry, entry.pattern, s, false)
	if missing == 0 {
		return result
	}
	if missing&seconds == fraction && fields&seconds == seconds {
		result = p.adjust(entry, result, s, true)
		missing &^= fraction
	}
	if missing == 0 {
		return result
	}
	before := missing
	entry, missing, _ = p.nearest(s, missing)
	found := before &^ missing
	if found == 0 {
		return result
	}
	top := bits.Len(uint(found)) - 1
	more := p.adjust(entry, entry.pattern, s, false)
	return strings.NewReplacer("{0}", result, "{1}", more, "{2}", "'"+p.names[top]+"'").Replace(p.appends[top])
}

// adjust changes the fields of a pattern to the requested lengths.
func (p *patterns) adjust(entry *patternEntry, pattern string, s *skeleton, withFraction bool) string {
	var b strings.Builder
	for _, it := range items(pattern) {
		form := (*fieldForm)(nil)
		if it.letter != 0 {
			form = formOf(it.letter, it.count)
		}
		switch {
		case it.letter == 0:
			b.WriteString(it.text)
		case form == nil:
			b.WriteString(strings.Repeat(string(it.letter), it.count))
		case withFraction && form.field == fieldSecond:
			b.WriteString(strings.Repeat(string(it.letter), it.count) + p.decimal + strings.Repeat("S", s.lengths[fieldFraction]))
		case s.kinds[form.field] != 0:
			b.WriteString(p.adjusted(entry, it, form, s))
		default:
			b.WriteString(strings.Repeat(string(it.letter), it.count))
		}
	}
	return b.String()
}

func (p *patterns) adjusted(entry *patternEntry, it item, form *fieldForm, s *skeleton) string {
	f := form.field
	requested, length := s.letters[f], s.lengths[f]
	if requested == 'E' && length < 3 {
		length = 3
	}
	adjusted := length
	if f == fieldMinute || f == fieldSecond {
		adjusted = it.count
	} else if entry.specified && requested != 'c' && requested != 'e' && f != fieldHour {
		numeric, askedNumeric := form.kind > 0, s.kinds[f] > 0
		if entry.fields.lengths[f] == length || numeric != askedNumeric {
			adjusted = it.count
		}
	} else if entry.specified && f == fieldHour && entry.fields.lengths[f] == length {
		adjusted = it.count
	}
	letter := it.letter
	if f != fieldHour && f != fieldMonth && f != fieldWeekday && (f != fieldYear || requested == 'Y') {
		letter = requested
	}
	if letter == 'E' && adjusted < 3 {
		letter = 'e'
	}
	if f == fieldHour {
		letter = p.hourLetter(letter, requested)
	}
	return strings.Repeat(string(letter), adjusted)
}

// hourLetter returns the region's hour letter if it is of the same kind as the requested letter.
// Otherwise, it returns the argument "letter".
func (p *patterns) hourLetter(letter, requested byte) byte {
	switch {
	case requested == p.hourChar:
		return p.hourChar
	case requested == 'h' && p.hourChar == 'K':
		return 'K'
	case requested == 'H' && p.hourChar == 'k':
		return 'k'
	case requested == 'k' && p.hourChar == 'H':
		return 'H'
	case requested == 'K' && p.hourChar == 'h':
		return 'h'
	}
	return letter
}
