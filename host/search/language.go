package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

// DefaultLanguage is the language of texts without a declared language.
const DefaultLanguage = "english"

// Language is a language whose words can be reduced to stems. Language is immutable and safe for
// concurrent use.
type Language struct {
	name string
	// stem is the algorithm of the Snowball project for the language.
	stem func(*snowballstem.Env) bool
	// prefixes is true if the algorithm can remove the beginning of a word.
	prefixes bool
}

// languages returns the languages, sorted by name.
func languages() []Language {
	return []Language{
		{name: "arabic", stem: arabic.Stem, prefixes: true},
		{name: "danish", stem: danish.Stem},
		{name: "dutch", stem: dutch.Stem},
		{name: "english", stem: english.Stem},
		{name: "finnish", stem: finnish.Stem},
		{name: "french", stem: french.Stem},
		{name: "german", stem: german.Stem},
		{name: "hungarian", stem: hungarian.Stem},
		{name: "irish", stem: irish.Stem, prefixes: true},
		{name: "italian", stem: italian.Stem},
		{name: "norwegian", stem: norwegian.Stem},
		{name: "portuguese", stem: portuguese.Stem},
		{name: "romanian", stem: romanian.Stem},
		{name: "russian", stem: russian.Stem},
		{name: "spanish", stem: spanish.Stem},
		{name: "swedish", stem: swedish.Stem},
		{name: "tamil", stem: tamil.Stem, prefixes: true},
		{name: "turkish", stem: turkish.Stem},
	}
}

// Languages returns the names of the languages, sorted.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// FindLanguage returns the language with a name. The name "" means DefaultLanguage.
func FindLanguage(name string) (*Language, error) {
	if name == "" {
		name = DefaultLanguage
	}
	all := languages()
	i := slices.IndexFunc(all, func(l Language) bool { return l.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown language %q: use one of %s", name, strings.Join(Languages(), ", "))
	}
	return &all[i], nil
}

// Name returns the name of the language.
func (l *Language) Name() string { return l.name }

// stemmer reduces words to stems. stemmer is not safe for concurrent use.
type stemmer struct {
	language *Language
	env      snowballstem.Env
}

// stem returns the stem of a word in lower case. Two words that differ only in accents have the
// same stem.
func (s *stemmer) stem(word string) string {
	s.env.SetCurrent(word)
	s.language.stem(&s.env)
	stem := s.env.Current()
	if stem == "" {
		stem = word
	}
	return withoutAccents(stem)
}

// withoutAccents removes the accents of Latin, Greek and Cyrillic letters. The marks of other
// scripts are not removed, because these marks can be vowels.
func withoutAccents(word string) string {
	if isASCII(word) {
		return word
	}
	var b strings.Builder
	accents := false
	for _, r := range norm.NFD.String(word) {
		switch {
		case r >= 0x0300 && r <= 0x036F: // combining diacritical marks
			if !accents {
				b.WriteRune(r)
			}
		case r == 'ß':
			b.WriteString("ss")
		default:
			accents = r < 0x0530
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
