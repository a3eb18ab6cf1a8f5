package intl

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// rootLanguages are the languages that use the root collation.
var rootLanguages = strings.Fields("en de fr it pt nl id ms sw zu ga ca")

// searchLanguages are the languages that use the same order for searching and sorting.
var searchLanguages = strings.Fields("en fr it pt nl id")

// tailoredLanguages have a collation of their own, in which golang.org/x/text agrees with ICU.
var tailoredLanguages = strings.Fields("es sv fi pl cs sk hu tr ro sl et lt ru uk bg el")

// firstScripts are the scripts that some languages sort before all others, unlike
// golang.org/x/text.
var firstScripts = map[string]*unicode.RangeTable{"bg": unicode.Cyrillic, "ru": unicode.Cyrillic, "uk": unicode.Cyrillic, "el": unicode.Greek}

// knownOrder returns the non-ASCII characters that ICU and golang.org/x/text order alike, as spans
// of a first and a last character.
var knownOrder = sync.OnceValue(func() (spans [][2]rune) {
	for _, text := range strings.Fields(knownSpans) {
		low, high, _ := strings.Cut(text, "-")
		first, _ := strconv.ParseUint(low, 16, 32)
		last, err := strconv.ParseUint(high, 16, 32)
		if err != nil {
			last = first
		}
		spans = append(spans, [2]rune{rune(first), rune(last)})
	}
	return spans
})
