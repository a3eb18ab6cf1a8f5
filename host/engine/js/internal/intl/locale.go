package intl

import (
	"slices"
	"strings"
	"sync"
)

// DefaultLocale is the locale of a tool that names none, or none that there is.
const DefaultLocale = "en-US"

// locale is a locale that was agreed on.
type locale struct {
	Tag
	name  string // without extensions
	table *table
}

// knownLocales are those that Node has, whether we have them or not.
var knownLocales = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(supplemental("locales")) {
		known[name] = true
		if parts := strings.Split(name, "-"); len(parts) == 3 && len(parts[1]) == 4 {
			known[parts[0]+"-"+parts[2]] = true
		}
	}
	return known
})

// available is the longest beginning of a tag that Node has a locale for, or "".
func available(tag Tag) string {
	name := tag.Base()
	for name != "" && !knownLocales()[name] {
		i := strings.LastIndexByte(name, '-')
		name = name[:max(i, 0)]
	}
	return name
}

// negotiate picks the first of the tags that there is a locale for.
func negotiate(tags []Tag) (locale, error) {
	for _, tag := range tags {
		if name := available(tag); name != "" {
			t := tableFor(name)
			if t == nil {
				return locale{}, unsupported("the locale "+name, "use one of Intl.NumberFormat.supportedLocalesOf()'s, such as en or de")
			}
			return locale{tag, name, t}, nil
		}
	}
	tag, err := ParseTag(DefaultLocale)
	return locale{tag, DefaultLocale, tableFor(DefaultLocale)}, err
}

// tableFor finds the table of a locale that Node has. It is nil where we have none.
func tableFor(name string) *table {
	if t := tableOf(name); t != nil {
		return t
	}
	if parts := strings.Split(name, "-"); len(parts) == 2 && len(parts[1]) < 4 {
		tag := Tag{Language: parts[0], Region: parts[1]}.maximized()
		if full := tag.Base(); !knownLocales()[name] || defaultLocales()[full] {
			name = full
		}
	}
	for name != "" {
		if t := tableOf(name); t != nil {
			return t
		}
		if knownLocales()[name] && !defaultLocales()[name] {
			return nil // it has data of its own
		}
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	return nil
}

// defaultLocales are those whose data are those of the locale with the shorter name.
var defaultLocales = sync.OnceValue(func() map[string]bool {
	defaults := map[string]bool{}
	for _, name := range strings.Fields(supplemental("locales/default")) {
		defaults[name] = true
	}
	return defaults
})

// region is the country of a locale, or the likely one.
func (l locale) region() string {
	tag, err := ParseTag(l.name)
	if err != nil {
		return ""
	}
	return tag.maximized().Region
}

// SupportedLocales returns those of the tags that there is a locale for.
func SupportedLocales(tags []Tag) (supported []string) {
	supported = []string{}
	for _, tag := range tags {
		if name := available(tag); name != "" && tableFor(name) != nil {
			supported = append(supported, tag.String())
		}
	}
	return supported
}

// numberingSystem agrees on the digits: those of the option, else of the tag, else of the locale. The second value is
// the extension that the resolved locale shows.
func (l locale) numberingSystem(option string) (system, extension string, err error) {
	standard := l.table.get("numbers/system")
	for _, asked := range []string{option, l.extension("nu")} {
		if asked == "" || slices.Contains([]string{"native", "traditio", "finance"}, asked) {
			continue
		}
		if supplemental("digits/"+asked) == "" && !slices.Contains(algorithmic, asked) {
			continue // Node does not know it, and goes on
		}
		if asked != "latn" && asked != standard {
			return "", "", unsupported("the numbering system "+asked, "use latn")
		}
		if asked == l.extension("nu") {
			extension = asked
		}
		return asked, extension, nil
	}
	return standard, "", nil
}

// algorithmic are the numbering systems that no digits make.
var algorithmic = strings.Fields(`armn armnlow cyrl ethi finance geor grek greklow hans hansfin hant hantfin hebr jpan
	jpanfin roman romanlow taml`)

func (l locale) extension(key string) string {
	value, _ := l.keyword(key)
	return value
}

// digits are those of a numbering system, from zero to nine.
func digitsOf(system string) []string {
	digits := make([]string, 0, 10)
	for _, r := range supplemental("digits/" + system) {
		digits = append(digits, string(r))
	}
	return digits
}

// withDigits writes ASCII digits in those of a numbering system.
func withDigits(text string, digits []string) string {
	if digits == nil {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' {
			b.WriteString(digits[c-'0'])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// resolvedName is the name of a locale with the extensions that had an effect.
func resolvedName(name string, extensions ...keyword) string {
	tag := Tag{Language: name}
	for _, k := range extensions {
		if k.value != "" {
			tag.keywords = append(tag.keywords, k)
		}
	}
	return tag.String()
}
