package intl

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// rootLanguages have the order of letters of the root.
var rootLanguages = strings.Fields("en de fr it pt nl id ms sw zu ga ca")

// searchLanguages are those that search in the order in which they sort.
var searchLanguages = strings.Fields("en fr it pt nl id")

// tailoredLanguages have an order of their own, which golang.org/x/text has as ICU does.
var tailoredLanguages = strings.Fields("es sv fi pl cs sk hu tr ro sl et lt ru uk bg el")

// firstScripts are the scripts that some languages put before all others, which golang.org/x/text does not.
var firstScripts = map[string]*unicode.RangeTable{"bg": unicode.Cyrillic, "ru": unicode.Cyrillic, "uk": unicode.Cyrillic, "el": unicode.Greek}

// knownOrder are the characters, beyond ASCII, that ICU and golang.org/x/text order alike, as first and last of spans.
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
