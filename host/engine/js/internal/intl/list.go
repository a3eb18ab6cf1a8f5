package intl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ListFormat implements Intl.ListFormat, which joins texts to a list such as "a, b, and c".
type ListFormat struct {
	locale            locale
	name, kind, style string
}

// NewListFormat returns a ListFormat for the options of the Intl.ListFormat constructor.
func NewListFormat(tags []Tag, o Options) (*ListFormat, error) {
	if err := matcher(o, "ListFormat"); err != nil {
		return nil, err
	}
	f := &ListFormat{}
	var err error
	if f.kind, err = choice(o, "ListFormat", "type", "conjunction", "conjunction", "disjunction", "unit"); err != nil {
		return nil, err
	}
	if f.style, err = choice(o, "ListFormat", "style", "long", "long", "short", "narrow"); err != nil {
		return nil, err
	}
	if f.locale, err = negotiate(tags); err != nil {
		return nil, err
	}
	f.name = f.locale.name
	return f, nil
}

// Format joins texts.
func (f *ListFormat) Format(texts []string) string { return Join(f.Parts(texts)) }

// Parts joins texts to a list and returns the list as parts.
func (f *ListFormat) Parts(texts []string) []Part {
	n := len(texts)
	if n == 0 {
		return nil
	}
	element := func(i int) []Part {
		if texts[i] == "" {
			return nil
		}
		return []Part{{Type: "element", Value: texts[i]}}
	}
	if n == 1 {
		return element(0)
	}
	if n == 2 {
		return f.joined("2", element(0), element(1), texts[1])
	}
	parts := f.joined("start", element(0), element(1), texts[1])
	for i := 2; i < n-1; i++ {
		parts = f.appended(parts, element(i), "middle")
	}
	return f.joined("end", parts, element(n-1), texts[n-1])
}

// appended appends an element to the previous result. In all CLDR patterns for lists, the previous
// result is at the beginning. Therefore appended need not copy the previous result, and joining a
// list takes linear time.
func (f *ListFormat) appended(parts, element []Part, position string) []Part {
	pattern := f.pattern(position)
	between, after, _ := strings.Cut(strings.TrimPrefix(pattern, "{0}"), "{1}")
	parts = appendLiteral(parts, between)
	return appendLiteral(append(parts, element...), after)
}

// joined combines two elements with a pattern. In some languages, the conjunction depends on the
// second element. The argument "text" contains the text of the second element.
func (f *ListFormat) joined(position string, first, second []Part, text string) []Part {
	pattern := f.pattern(position)
	if position == "2" || position == "end" {
		pattern = f.agreed(pattern, text)
	}
	before, rest, _ := strings.Cut(pattern, "{0}")
	between, after, _ := strings.Cut(rest, "{1}")
	parts := appendLiteral(append(appendLiteral(nil, before), first...), between)
	return appendLiteral(append(parts, second...), after)
}

func appendLiteral(parts []Part, text string) []Part {
	if text == "" {
		return parts
	}
	if n := len(parts); n > 0 && parts[n-1].Type == "literal" {
		parts[n-1].Value += text
		return parts
	}
	return append(parts, Part{Type: "literal", Value: text})
}

func (f *ListFormat) pattern(position string) string {
	list := map[string]string{"conjunction": "standard", "disjunction": "or", "unit": "unit"}[f.kind]
	if f.style != "long" {
		list += "-" + f.style
	}
	return f.locale.table.get("list/" + list + "/" + position)
}

// agreed returns a pattern with the form of the conjunction that is correct before the given text.
// In some languages, a conjunction has several forms.
func (f *ListFormat) agreed(pattern, text string) string {
	lower := strings.ToLower(text)
	switch {
	case f.locale.Language == "es" && pattern == "{0} y {1}" && startsWithI(lower):
		return "{0} e {1}"
	case f.locale.Language == "es" && pattern == "{0} o {1}" && startsWithO(lower):
		return "{0} u {1}"
	case f.locale.Language == "he" && pattern == "{0} ו{1}":
		if first, _ := utf8.DecodeRuneInString(text); text != "" && !unicode.Is(unicode.Hebrew, first) {
			return "{0} ו-{1}"
		}
	}
	return pattern
}

func startsWithI(lower string) bool {
	if after, ok := strings.CutPrefix(lower, "hi"); ok {
		return !strings.HasPrefix(after, "a") && !strings.HasPrefix(after, "e")
	}
	return strings.HasPrefix(lower, "i")
}

func startsWithO(lower string) bool {
	return strings.HasPrefix(lower, "o") || strings.HasPrefix(lower, "ho") || strings.HasPrefix(lower, "8") ||
		lower == "11" || strings.HasPrefix(lower, "11 ")
}

// Resolved returns the result of resolvedOptions: the options that the ListFormat uses.
func (f *ListFormat) Resolved() []Option {
	return []Option{{"locale", f.name}, {"type", f.kind}, {"style", f.style}}
}
