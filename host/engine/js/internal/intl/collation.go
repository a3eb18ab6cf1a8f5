package intl

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// rootLanguages contains the languages that use the root collation.
var rootLanguages = strings.Fields("en de fr it pt nl id ms sw zu ga ca")

// searchLanguages contains the languages for which the order for searching equals the order for
// sorting.
var searchLanguages = strings.Fields("en fr it pt nl id")

// tailoredLanguages contains languages that have their own collation. For these languages,
// golang.org/x/text and ICU use the same order.
var tailoredLanguages = strings.Fields("es sv fi pl cs sk hu tr ro sl et lt ru uk bg el")

// firstScripts maps each language that sorts one script before all others to that script.
// golang.org/x/text does not reorder scripts.
var firstScripts = map[string]*unicode.RangeTable{"bg": unicode.Cyrillic, "ru": unicode.Cyrillic, "uk": unicode.Cyrillic, "el": unicode.Greek}

// knownOrder returns the non-ASCII characters on whose order ICU and golang.org/x/text agree, as
// spans. A span contains its first and its last character.
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
