package intl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Collator implements Intl.Collator, which orders texts. Only one goroutine can use a Collator at a
// time.
type Collator struct {
	name, usage, sensitivity string
	numeric                  bool
	root                     bool                // the language uses the root collation
	first                    *unicode.RangeTable // the script that sorts before all other scripts, or nil
	order                    *collate.Collator
	apart                    *strings.Replacer // replaces the letters in the variable "accented"
}

// collations contains the collations that are not the default of a locale but that at least one
// locale supports.
var collations = strings.Fields("big5han compat dict direct ducet emoji eor gb2312 phonebk phonetic pinyin searchjl stroke trad unihan zhuyin")

// NewCollator returns a Collator for the options of the Intl.Collator constructor.
func NewCollator(tags []Tag, o Options) (*Collator, error) {
	c := &Collator{}
	var err error
	if c.usage, err = choice(o, "Collator", "usage", "sort", "sort", "search"); err != nil {
		return nil, err
	}
	if err := matcher(o, "Collator"); err != nil {
		return nil, err
	}
	l, err := negotiate(tags)
	if err != nil {
		return nil, err
	}
	numeric, err := c.readNumeric(o, l)
	if err != nil {
		return nil, err
	}
	if c.sensitivity, err = choice(o, "Collator", "sensitivity", "variant", "base", "accent", "case", "variant"); err != nil {
		return nil, err
	}
	if ignore, ok := o.Bool("ignorePunctuation"); ok && ignore || !ok && l.Language == "th" {
		return nil, unsupported("ignorePunctuation", "set ignorePunctuation: false, and remove punctuation from the strings")
	}
	if c.usage == "search" && !slices.Contains(searchLanguages, l.Language) {
		return nil, unsupported(`the usage "search" in `+l.name, `use usage: "sort"`)
	}
	c.name = l.Language
	if slices.Contains([]string{"en-US", "de-AT"}, l.name) {
		c.name = l.name
	}
	if numeric {
		c.name += "-u-kn"
	}
	return c, c.prepare(l)
}

// readNumeric reads the options that a language tag can also contain, and reports whether the
// numeric order comes from the tag.
func (c *Collator) readNumeric(o Options, l locale) (ofTag bool, err error) {
	if kn, ok := l.keyword("kn"); ok {
		c.numeric = kn == ""
		ofTag = c.numeric
	}
	if numeric, ok := o.Bool("numeric"); ok {
		ofTag = ofTag && numeric
		c.numeric = numeric
	}
	first, err := choice(o, "Collator", "caseFirst", l.extension("kf"), "upper", "lower", "false")
	if err != nil {
		return false, err
	}
	if first != "" && first != "false" {
		return false, unsupported("caseFirst: "+quoted(first), `use "false"`)
	}
	collation, _ := o.Text("collation")
	for _, co := range []string{collation, l.extension("co")} {
		if slices.Contains(collations, co) {
			return false, unsupported("the collation "+co, "omit the collation")
		}
	}
	return ofTag, nil
}

// prepare creates the sort order of the collator. For some languages, golang.org/x/text and ICU use
// different orders. For such a language, prepare fails.
func (c *Collator) prepare(l locale) error {
	c.root = slices.Contains(rootLanguages, l.Language)
	if !c.root && !slices.Contains(tailoredLanguages, l.Language) || l.name == "fr-CA" {
		return unsupported("string comparison in "+l.name, `use the locale "en"`)
	}
	var options []collate.Option
	switch c.sensitivity {
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics, collate.IgnoreWidth)
	case "accent":
		options = append(options, collate.IgnoreCase, collate.IgnoreWidth)
	case "case":
		return unsupported(`the sensitivity "case"`, `use "variant" or "base"`)
	}
	c.first = firstScripts[l.Language]
	c.apart = strings.NewReplacer(accented...)
	if l.Language == "uk" {
		c.apart = strings.NewReplacer(accented[:len(accented)-len(ukrainian)]...)
	}
	tag := language.Und
	if !c.root {
		tag = language.Make(l.Language)
	}
	c.order = collate.New(tag, options...)
	return nil
}

// ukrainian contains replacements for the letter ї, which is a separate letter only in Ukrainian.
// Other languages treat the letter ї as the letter і with a mark.
var ukrainian = []string{"ї", "і\u034f\u0308", "Ї", "І\u034f\u0308"}

// accented contains letters with their replacements. golang.org/x/text treats these letters as
// separate letters, but ICU treats them as letters with a mark. Each replacement consists of a
// letter, a combining grapheme joiner and a mark. The joiner has no weight, but prevents
// golang.org/x/text from combining the letter and the mark.
var accented = append([]string{"ѓ", "г\u034f\u0301", "Ѓ", "Г\u034f\u0301", "ќ", "к\u034f\u0301", "Ќ", "К\u034f\u0301"}, ukrainian...)

func (c *Collator) compare(a, b string) int {
	return c.order.CompareString(c.apart.Replace(a), c.apart.Replace(b))
}

// Compare returns -1 if a sorts before b, 0 if a and b are equal, and 1 if a sorts after b. If the
// order depends on characters that ICU may order differently, Compare returns an error.
func (c *Collator) Compare(a, b string) (int, error) {
	if a == b {
		return 0, nil
	}
	a, b = c.plain(a), c.plain(b)
	if c.first != nil && mixes(a+b, c.first) {
		return 0, unsupported("comparison of strings in several scripts in "+c.name, `use the locale "en"`)
	}
	if strings.Contains(a+b, stroke) && !c.safeStrokes(a, b) {
		return 0, unsupported("comparison of letters with strokes and letters with accents", "compare the strings with < and >")
	}
	if c.known(a) && c.known(b) {
		return c.compare(a, b), nil
	}
	a, b = withoutCommon(a, b)
	if c.known(a) && c.known(b) {
		return c.compare(a, b), nil
	}
	return c.compareSymbols(a, b)
}

// mixes reports whether a text contains letters that belong to a script and also letters that do
// not belong to that script.
func mixes(text string, script *unicode.RangeTable) bool {
	inScript, outside := false, false
	for _, r := range text {
		if unicode.IsLetter(r) {
			in := unicode.Is(script, r)
			inScript, outside = inScript || in, outside || !in
		}
	}
	return inScript && outside
}

// The first and the last symbol in the sort order.
const firstSymbol, lastSymbol = "`", "\U0001D1DD"

// compareSymbols compares texts with symbols whose position in the sort order is unknown. Such
// symbols sort between firstSymbol and lastSymbol. The result is certain if both of these symbols,
// in place of the unknown symbol, give the same result.
func (c *Collator) compareSymbols(a, b string) (int, error) {
	lowA, okA := c.placed(a, firstSymbol)
	lowB, okB := c.placed(b, firstSymbol)
	if !okA || !okB {
		return 0, unsupported("comparison of a character in the strings", "compare the strings with < and >")
	}
	highA, _ := c.placed(a, lastSymbol)
	highB, _ := c.placed(b, lastSymbol)
	order := c.compare(lowA, highB)
	if order != c.compare(highA, lowB) {
		return 0, unsupported("comparison of two symbols in the strings", "compare the strings with < and >")
	}
	return order, nil
}

// placed replaces each unknown symbol in a text with the argument "symbol".
func (c *Collator) placed(text, symbol string) (string, bool) {
	var b strings.Builder
	for _, r := range text {
		switch {
		case c.knownRune(r):
			b.WriteRune(r)
		case unicode.In(r, unicode.So, unicode.Sk) || r >= 0x1F000 && r < 0x1FB00:
			b.WriteString(symbol)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// withoutCommon removes the common prefix of two texts. withoutCommon does not split a character or
// separate a letter from its mark.
func withoutCommon(a, b string) (string, string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (splits(a, n) || splits(b, n)) {
		n--
	}
	return a[n:], b[n:]
}

// splits reports whether position n is inside a character or next to a letter or a mark.
func splits(text string, n int) bool {
	if n < len(text) && !utf8.RuneStart(text[n]) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[n:])
	last, _ := utf8.DecodeLastRuneInString(text[:n])
	return unicode.In(next, unicode.M) || unicode.In(last, unicode.M) || unicode.IsLetter(next) || unicode.IsLetter(last)
}

// stroke is the combining mark that represents the stroke when the root collation decomposes a
// letter.
const stroke = "\u0335"

var strokes = strings.NewReplacer("ł", "l"+stroke, "Ł", "L"+stroke, "đ", "d"+stroke, "Đ", "D"+stroke, "ħ", "h"+stroke, "Ħ", "H"+stroke)

// strokesAmong contains the marks that golang.org/x/text orders correctly relative to a stroke.
var strokesAmong = []rune("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0335")

// safeStrokes reports whether the order of texts with strokes is certain. The order is certain if
// the letters determine it, or if all marks are in strokesAmong.
func (c *Collator) safeStrokes(a, b string) bool {
	if collate.New(language.Und, collate.Loose).CompareString(a, b) != 0 {
		return true
	}
	for _, r := range norm.NFD.String(a + b) {
		if unicode.Is(unicode.Mn, r) && !slices.Contains(strokesAmong, r) {
			return false
		}
	}
	return true
}

// plain returns the text in the form that is compared.
func (c *Collator) plain(text string) string {
	if !isASCII(text) {
		text = strings.Map(func(r rune) rune {
			if r == '\u00ad' || r == '\u200c' || r == '\u200d' || r == '\ufe0f' {
				return -1 // these characters have no weight
			}
			return r
		}, text)
		if c.root {
			text = strokes.Replace(text)
		}
	}
	if c.numeric {
		text = sortableDigits(text)
	}
	return text
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// sortableDigits inserts the length of each number before the number, so that a comparison of the
// texts compares the numbers by value.
func sortableDigits(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		if i == start {
			b.WriteByte(text[i])
			i++
			continue
		}
		number := strings.TrimLeft(text[start:i], "0")
		for n := len(number); n >= 9; n -= 9 {
			b.WriteByte('9')
		}
		b.WriteByte('0' + byte(len(number)%9))
		b.WriteString(number)
	}
	return b.String()
}

// known reports whether the order of a text certainly equals ICU's order.
func (c *Collator) known(text string) bool {
	if isASCII(text) {
		return true
	}
	for _, r := range text {
		if !c.knownRune(r) || c.numeric && r >= utf8.RuneSelf && unicode.Is(unicode.Nd, r) {
			return false
		}
	}
	return true
}

func (c *Collator) knownRune(r rune) bool {
	if r < utf8.RuneSelf || string(r) == stroke || slices.Contains(accented, string(r)) {
		return true
	}
	i, found := slices.BinarySearchFunc(knownOrder(), r, func(span [2]rune, r rune) int { return int(span[0] - r) })
	return found || i > 0 && r <= knownOrder()[i-1][1]
}

// Resolved returns the options in effect.
func (c *Collator) Resolved() []Option {
	return []Option{{"locale", c.name}, {"usage", c.usage}, {"sensitivity", c.sensitivity}, {"ignorePunctuation", false},
		{"collation", "default"}, {"numeric", c.numeric}, {"caseFirst", "false"}}
}
