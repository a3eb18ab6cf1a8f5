package intl

import (
	"slices"
	"strings"
	"sync"
)

// DefaultLocale is the locale for a tool that selects no locale, or only unknown locales.
const DefaultLocale = "en-US"

// locale is a negotiated locale.
type locale struct {
	Tag
	name  string // without extensions
	table *table
}

// knownLocales returns the locales that Node supports, including locales that this package does not
// support.
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

// available returns the longest prefix of a tag that is the name of a locale of Node. If no
// such prefix exists, available returns "".
func available(tag Tag) string {
	name := tag.Base()
	for name != "" && !knownLocales()[name] {
		i := strings.LastIndexByte(name, '-')
		name = name[:max(i, 0)]
	}
	return name
}

// negotiate returns the locale for the first tag for which Node has a locale.
func negotiate(tags []Tag) (locale, error) {
	for _, tag := range tags {
		if name := available(tag); name != "" {
			t := tableFor(name)
			if t == nil {
				return locale{}, unsupported("the locale "+name, "use a supported locale, such as en or de")
			}
			return locale{tag, name, t}, nil
		}
	}
	tag, err := ParseTag(DefaultLocale)
	return locale{tag, DefaultLocale, tableFor(DefaultLocale)}, err
}

// tableFor returns the table for a locale that Node supports. If this package does not support the
// locale, tableFor returns nil.
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
			return nil // Node has separate data for the locale
		}
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	return nil
}

// defaultLocales returns the locales whose data equals the data of a locale with a shorter name.
var defaultLocales = sync.OnceValue(func() map[string]bool {
	defaults := map[string]bool{}
	for _, name := range strings.Fields(supplemental("locales/default")) {
		defaults[name] = true
	}
	return defaults
})

// region returns the region in the name of a locale. If the name contains no region, the method
// returns the likely region.
func (l locale) region() string {
	tag, err := ParseTag(l.name)
	if err != nil {
		return ""
	}
	return tag.maximized().Region
}

// SupportedLocales returns the tags for which this package has a locale.
func SupportedLocales(tags []Tag) (supported []string) {
	supported = []string{}
	for _, tag := range tags {
		if name := available(tag); name != "" && tableFor(name) != nil {
			supported = append(supported, tag.String())
		}
	}
	return supported
}

// numberingSystem returns the numbering system. The option has precedence over the tag, and the tag
// over the default of the locale. numberingSystem also returns the extension for the name of the
// resolved locale.
func (l locale) numberingSystem(option string) (system, extension string, err error) {
	standard := l.table.get("numbers/system")
	for _, requested := range []string{option, l.extension("nu")} {
		if requested == "" || slices.Contains([]string{"native", "traditio", "finance"}, requested) {
			continue
		}
		if supplemental("digits/"+requested) == "" && !slices.Contains(algorithmic, requested) {
			continue // Node ignores unknown numbering systems
		}
		if requested != "latn" && requested != standard {
			return "", "", unsupported("the numbering system "+requested, "use latn")
		}
		if requested == l.extension("nu") {
			extension = requested
		}
		return requested, extension, nil
	}
	return standard, "", nil
}

// algorithmic contains the numbering systems that are not based on digits.
var algorithmic = strings.Fields(`armn armnlow cyrl ethi finance geor grek greklow hans hansfin hant hantfin hebr jpan
	jpanfin roman romanlow taml`)

func (l locale) extension(key string) string {
	value, _ := l.keyword(key)
	return value
}

// digitsOf returns the digits of a numbering system, from zero to nine.
func digitsOf(system string) []string {
	digits := make([]string, 0, 10)
	for _, r := range supplemental("digits/" + system) {
		digits = append(digits, string(r))
	}
	return digits
}

// withDigits replaces ASCII digits with the digits of a numbering system.
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

// resolvedName returns the name of a locale with its effective extensions.
func resolvedName(name string, extensions ...keyword) string {
	tag := Tag{Language: name}
	for _, k := range extensions {
		if k.value != "" {
			tag.keywords = append(tag.keywords, k)
		}
	}
	return tag.String()
}
