package intl

import "strings"

// field is a component of a date. The constants have the same order as in ICU. If a pattern lacks
// several fields, the fields are appended in this order.
type field int

const (
	fieldEra field = iota
	fieldYear
	fieldQuarter
	fieldMonth
	fieldWeekOfYear
	fieldWeekOfMonth
	fieldWeekday
	fieldDayOfYear
	fieldDayOfWeekInMonth
	fieldDay
	fieldDayPeriod
	fieldHour
	fieldMinute
	fieldSecond
	fieldFraction
	fieldZone
	fieldCount
)

// The types that a form of a field can have. Types for text are negative, and types for numbers are
// positive. If two letters mean the same field, their types differ by a multiple of delta.
const (
	typeNarrow  = -0x101
	typeShorter = -0x102
	typeShort   = -0x103
	typeLong    = -0x104
	typeNumeric = 0x100
	delta       = 0x10
)

// fieldForm is the meaning of a pattern letter that is repeated at least min times.
type fieldForm struct {
	letter byte
	field  field
	kind   int
	min    int
}

// fieldForms contains all forms. Patterns are compared by their forms. The forms of one letter are
// adjacent and begin with the shortest form.
var fieldForms = []fieldForm{
	{'G', fieldEra, typeShort, 1}, {'G', fieldEra, typeLong, 4}, {'G', fieldEra, typeNarrow, 5},
	{'y', fieldYear, typeNumeric, 1}, {'Y', fieldYear, typeNumeric + delta, 1}, {'u', fieldYear, typeNumeric + 2*delta, 1},
	{'r', fieldYear, typeNumeric + 3*delta, 1},
	{'U', fieldYear, typeShort, 1}, {'U', fieldYear, typeLong, 4}, {'U', fieldYear, typeNarrow, 5},
	{'Q', fieldQuarter, typeNumeric, 1}, {'Q', fieldQuarter, typeShort, 3}, {'Q', fieldQuarter, typeLong, 4}, {'Q', fieldQuarter, typeNarrow, 5},
	{'M', fieldMonth, typeNumeric, 1}, {'M', fieldMonth, typeShort, 3}, {'M', fieldMonth, typeLong, 4}, {'M', fieldMonth, typeNarrow, 5},
	{'L', fieldMonth, typeNumeric + delta, 1}, {'L', fieldMonth, typeShort - delta, 3}, {'L', fieldMonth, typeLong - delta, 4}, {'L', fieldMonth, typeNarrow - delta, 5},
	{'w', fieldWeekOfYear, typeNumeric, 1}, {'W', fieldWeekOfMonth, typeNumeric, 1},
	{'E', fieldWeekday, typeShort, 1}, {'E', fieldWeekday, typeLong, 4}, {'E', fieldWeekday, typeNarrow, 5}, {'E', fieldWeekday, typeShorter, 6},
	{'c', fieldWeekday, typeNumeric + 2*delta, 1}, {'c', fieldWeekday, typeShort - 2*delta, 3}, {'c', fieldWeekday, typeLong - 2*delta, 4}, {'c', fieldWeekday, typeNarrow - 2*delta, 5}, {'c', fieldWeekday, typeShorter - 2*delta, 6},
	{'e', fieldWeekday, typeNumeric + delta, 1}, {'e', fieldWeekday, typeShort - delta, 3}, {'e', fieldWeekday, typeLong - delta, 4}, {'e', fieldWeekday, typeNarrow - delta, 5}, {'e', fieldWeekday, typeShorter - delta, 6},
	{'d', fieldDay, typeNumeric, 1}, {'g', fieldDay, typeNumeric + delta, 1},
	{'D', fieldDayOfYear, typeNumeric, 1}, {'F', fieldDayOfWeekInMonth, typeNumeric, 1},
	{'a', fieldDayPeriod, typeShort, 1}, {'a', fieldDayPeriod, typeLong, 4}, {'a', fieldDayPeriod, typeNarrow, 5},
	{'b', fieldDayPeriod, typeShort - delta, 1}, {'b', fieldDayPeriod, typeLong - delta, 4}, {'b', fieldDayPeriod, typeNarrow - delta, 5},
	{'B', fieldDayPeriod, typeShort - 3*delta, 1}, {'B', fieldDayPeriod, typeLong - 3*delta, 4}, {'B', fieldDayPeriod, typeNarrow - 3*delta, 5},
	{'H', fieldHour, typeNumeric + 10*delta, 1}, {'k', fieldHour, typeNumeric + 11*delta, 1},
	{'h', fieldHour, typeNumeric, 1}, {'K', fieldHour, typeNumeric + delta, 1},
	{'m', fieldMinute, typeNumeric, 1},
	{'s', fieldSecond, typeNumeric, 1}, {'A', fieldSecond, typeNumeric + delta, 1},
	{'S', fieldFraction, typeNumeric, 1},
	{'v', fieldZone, typeShort - 2*delta, 1}, {'v', fieldZone, typeLong - 2*delta, 4},
	{'z', fieldZone, typeShort, 1}, {'z', fieldZone, typeLong, 4},
	{'Z', fieldZone, typeNarrow - delta, 1}, {'Z', fieldZone, typeLong - delta, 4}, {'Z', fieldZone, typeShort - delta, 5},
	{'O', fieldZone, typeShort - delta, 1}, {'O', fieldZone, typeLong - delta, 4},
	{'V', fieldZone, typeShort - delta, 1}, {'V', fieldZone, typeLong - delta, 2}, {'V', fieldZone, typeLong - 1 - delta, 3}, {'V', fieldZone, typeLong - 2 - delta, 4},
}

// formOf returns the form of a letter that is repeated n times, or nil.
func formOf(letter byte, n int) *fieldForm {
	var best *fieldForm
	for i := range fieldForms {
		if f := &fieldForms[i]; f.letter == letter && (best == nil || f.min <= n) {
			best = f
		}
	}
	return best
}

// item is one element of a date pattern: a repeated letter or literal text.
type item struct {
	letter byte
	count  int
	text   string // the literal text, including the pattern's quotes
}

// items splits a date pattern into elements.
func items(pattern string) (list []item) {
	for i := 0; i < len(pattern); {
		c := pattern[i]
		start := i
		if isLetter(c) {
			for i < len(pattern) && pattern[i] == c {
				i++
			}
			list = append(list, item{letter: c, count: i - start})
			continue
		}
		for i < len(pattern) && !isLetter(pattern[i]) {
			if pattern[i] == '\'' {
				i++
				for i < len(pattern) && pattern[i] != '\'' {
					i++
				}
			}
			i++
		}
		list = append(list, item{text: pattern[start:min(i, len(pattern))]})
	}
	return list
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// unquoted returns the literal text of an element without its quotes.
func unquoted(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\'' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			b.WriteByte('\'')
			i++
		}
	}
	return b.String()
}

// skeleton is the set of fields that a date pattern contains.
type skeleton struct {
	letters [fieldCount]byte
	lengths [fieldCount]int
	kinds   [fieldCount]int
}

// skeletonOf returns the fields of a pattern or of a skeleton string.
func skeletonOf(pattern string) (s skeleton) {
	for _, it := range items(pattern) {
		if it.letter != 0 {
			s.add(it.letter, it.count)
		}
	}
	if s.lengths[fieldMinute] > 0 && s.lengths[fieldFraction] > 0 && s.lengths[fieldSecond] == 0 {
		s.add('s', 1)
	}
	if s.lengths[fieldHour] == 0 {
		return s
	}
	if letter := s.letters[fieldHour]; letter != 'h' && letter != 'K' {
		s.letters[fieldDayPeriod], s.lengths[fieldDayPeriod], s.kinds[fieldDayPeriod] = 0, 0, 0
	} else if s.lengths[fieldDayPeriod] == 0 {
		s.letters[fieldDayPeriod], s.lengths[fieldDayPeriod], s.kinds[fieldDayPeriod] = 'a', 1, typeShort
	}
	return s
}

func (s *skeleton) add(letter byte, n int) {
	form := formOf(letter, n)
	if form == nil {
		return
	}
	s.letters[form.field], s.lengths[form.field] = letter, n
	s.kinds[form.field] = form.kind
	if form.kind > 0 {
		s.kinds[form.field] += n
	}
}

// base returns a skeleton with the same fields. In the returned skeleton, each field has its
// shortest form.
func (s *skeleton) base() string {
	var b strings.Builder
	for f := range fieldCount {
		if s.lengths[f] == 0 {
			continue
		}
		form := formOf(s.letters[f], s.lengths[f])
		b.WriteString(strings.Repeat(string(s.letters[f]), form.min))
	}
	return b.String()
}

func (s *skeleton) mask() (mask int) {
	for f := range fieldCount {
		if s.lengths[f] > 0 {
			mask |= 1 << f
		}
	}
	return mask
}

// distance compares the skeleton s with the skeleton of a pattern, which the argument "other"
// contains. distance returns the distance, the fields that the pattern lacks, and the extra fields
// of the pattern. distance ignores the fields of s that are not in mask.
func (s *skeleton) distance(other *skeleton, mask int) (distance, missing, extra int) {
	const extraField, missingField = 0x10000, 0x1000
	for f := range fieldCount {
		mine, theirs := s.kinds[f], other.kinds[f]
		if mask&(1<<f) == 0 {
			mine = 0
		}
		switch {
		case mine == theirs:
		case mine == 0:
			distance += extraField
			extra |= 1 << f
		case theirs == 0:
			distance += missingField
			missing |= 1 << f
		case mine > theirs:
			distance += mine - theirs
		default:
			distance += theirs - mine
		}
	}
	return distance, missing, extra
}
