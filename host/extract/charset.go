package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// charset contains a legacy encoding, and the characters that are typical of texts in this
// encoding.
type charset struct {
	encoding encoding.Encoding
	// common contains frequent non-ASCII characters of the languages that use the encoding.
	common string
	// seldom contains less frequent non-ASCII characters.
	seldom string
	// words is true if non-ASCII characters form whole words in texts in this encoding, such as a
	// Cyrillic encoding. In texts in the other encodings, a non-ASCII character usually occurs
	// between ASCII letters.
	words bool
	// weigh returns the rating of a two-byte character. For a single-byte encoding, weigh is nil.
	weigh func(first, second byte) float64
}

// charsets lists the candidate encodings. If two encodings get the same rating for a text, the
// encoding that precedes the other in the list is chosen.
var charsets = []charset{
	{encoding: charmap.Windows1252, common: "àâáäãåæçèéêëìíîïñòóôöøœùúüýßÀÂÁÄÃÅÆÇÈÉÊËÍÎÑÓÔÖØŒÚÜÝ", seldom: "õûðþÕÛÐÞ"},
	{encoding: charmap.Windows1251, common: cyrillic, seldom: otherCyrillic + "іїєґІЇЄҐ№", words: true},
	{encoding: charmap.KOI8R, common: cyrillic, seldom: otherCyrillic, words: true},
	{encoding: charmap.Windows1250, common: centralEurope, seldom: otherCentralEurope},
	{encoding: charmap.ISO8859_2, common: centralEurope, seldom: otherCentralEurope},
	{encoding: charmap.Windows1253, common: "αειηοστνυρπκλμςάέήίόύώΑΕΙΗΟΣΤΝΥΡΠΚΛΜ", seldom: "βγδζθξφχψωϊϋΒΓΔΖΘΞΦΧΨΩΆΈΉΊΌΎΏ", words: true},
	{encoding: charmap.Windows1254, common: "ğışöçüİĞŞÖÇÜâîû"},
	{encoding: charmap.Windows1255, common: "אבגדהוזחטיכלמנסעפצקרשתםןףץך", words: true},
	{encoding: charmap.Windows1256, common: "ابتدرسعقكلمنهوية", seldom: "ثجحخذزشصضطظغفىأإآؤئءپچژگ،؛؟", words: true},
	{encoding: japanese.ShiftJIS, weigh: weighShiftJIS},
	{encoding: simplifiedchinese.GB18030, weigh: weighGB},
	{encoding: traditionalchinese.Big5, weigh: weighBig5},
	{encoding: korean.EUCKR, weigh: weighKorean},
	{encoding: japanese.EUCJP, weigh: weighEUCJP},
}

// The letters in the constant "cyrillic" make up five sixths of a Russian text. If a text in
// another script is wrongly decoded as Cyrillic, the result contains many letters of otherCyrillic.
// Russian text contains few of these letters.
const (
	cyrillic      = "оеаинтсрвлкмдпуОЕАИНТСРВЛКМДПУ"
	otherCyrillic = "бгжзйфхцчшщъыьэюяёБГЖЗЙФХЦЧШЩЪЫЬЭЮЯЁ"
)

const (
	centralEurope      = "áčďéěíňóřšťúůýžąćęłńśźżäöüőűôľâîÁČĎÉÍŇÓŘŠŤÚŮÝŽĄĆĘŁŃŚŹŻÄÖÜŐŰĽ"
	otherCentralEurope = "ăđĺŕşţĂĐŞŢ"
)

// typographic contains punctuation and symbols that occur in many languages.
const typographic = "’‘“”„–—…€£§°²³·«»©®™½¼¾¿¡ºª•×\u00A0"

// The rating of a text is the sum of the ratings of its characters. A character can have the
// following ratings. The rating of a two-byte character counts twice.
const (
	frequent    = 1.0
	infrequent  = 0.5
	punctuation = 0.7
	unusual     = -1.0
	misplaced   = -2.0
	preferred   = 0.5 // added once to the rating of Windows-1252
)

// charsetOf guesses the legacy encoding of a text.
func charsetOf(sample []byte) encoding.Encoding {
	best, highest := charsets[0].encoding, 0.0
	for i, c := range charsets {
		decoded, err := c.encoding.NewDecoder().Bytes(sample)
		text := string(decoded)
		if len(sample) == sampleBytes { // the sample can end in the middle of a character
			text = strings.TrimSuffix(text, string(utf8.RuneError))
		}
		if err != nil || i > 0 && strings.ContainsRune(text, utf8.RuneError) {
			continue
		}
		score := preferred
		if i > 0 {
			score = 0
		}
		if c.weigh != nil {
			score += c.rateTwoBytes(sample)
		} else {
			score += c.rate([]rune(text))
		}
		if i == 0 || score > highest {
			best, highest = c.encoding, score
		}
	}
	return best
}

// rate rates each non-ASCII character of a text and the characters next to it. The result is the
// sum of these ratings.
func (c charset) rate(text []rune) (score float64) {
	for i, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		var before, after rune
		if i > 0 {
			before = text[i-1]
		}
		if i+1 < len(text) {
			after = text[i+1]
		}
		switch {
		case strings.ContainsRune(c.common, r):
			score += frequent + c.rateNeighbours(before, r, after)
		case strings.ContainsRune(c.seldom, r):
			score += infrequent + c.rateNeighbours(before, r, after)
		case strings.ContainsRune(typographic, r):
			score += rateTypographic(before, r, after)
		case unicode.IsLetter(r):
			score += unusual
		default:
			score += misplaced
		}
	}
	return score
}

// rateTypographic returns the rating of a character that is not a letter. Of these characters, only
// an apostrophe is common between two letters.
func rateTypographic(before, r, after rune) float64 {
	switch inWord := unicode.IsLetter(before) && unicode.IsLetter(after); {
	case inWord && r == '’':
		return frequent
	case inWord:
		return misplaced
	}
	return punctuation
}

// rateNeighbours returns the rating of the two characters that are next to a letter.
func (c charset) rateNeighbours(before, r, after rune) (score float64) {
	own := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }
	ascii := func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
	if unicode.IsLower(before) && unicode.IsUpper(r) || unicode.IsLower(r) && unicode.IsUpper(after) { // the letter is in the middle of a word
		score += unusual
	}
	if c.words && (ascii(before) || ascii(after)) {
		return score + misplaced
	}
	if !c.words && own(before) {
		return score + unusual/2
	}
	return score
}

// rateTwoBytes returns the sum of the ratings of all two-byte characters.
func (c charset) rateTwoBytes(sample []byte) (score float64) {
	for i := 0; i < len(sample); i++ {
		if sample[i] < utf8.RuneSelf {
			continue
		}
		if i+1 == len(sample) {
			break
		}
		rate := 2 * c.weigh(sample[i], sample[i+1])
		if rate > 0 && sample[i+1] < utf8.RuneSelf && unicode.IsLetter(rune(sample[i+1])) { // perhaps two one-byte characters
			rate *= half
		}
		score += rate
		i++
	}
	return score
}

// within reports whether a byte is in the given range.
func within(b, first, last byte) bool { return b >= first && b <= last }

// special is the rating of a character whose bytes are in a small range. Such a range contains
// frequent characters of an encoding and is rare in other encodings.
const special = 1.1

const half = 0.5

func weighShiftJIS(first, second byte) float64 {
	switch {
	case first == 0x82 && second >= 0x9F, first == 0x83 && second <= 0x96: // kana
		return special
	case first == 0x81, within(first, 0x88, 0x97): // punctuation, frequent kanji
		return frequent
	}
	return unusual
}

func weighGB(first, second byte) float64 {
	if second >= 0xA1 && (within(first, 0xA1, 0xA3) || within(first, 0xB0, 0xD7)) {
		return frequent
	}
	return unusual
}

func weighBig5(first, _ byte) float64 {
	if within(first, 0xA1, 0xC6) {
		return frequent
	}
	return unusual
}

func weighKorean(first, second byte) float64 {
	switch {
	case second >= 0xA1 && within(first, 0xB0, 0xC8):
		return special
	case second >= 0xA1 && within(first, 0xA1, 0xA3):
		return frequent
	}
	return unusual
}

func weighEUCJP(first, second byte) float64 {
	switch {
	case second >= 0xA1 && within(first, 0xA4, 0xA5): // kana
		return special
	case second >= 0xA1 && (within(first, 0xA1, 0xA3) || within(first, 0xB0, 0xCF)):
		return frequent
	}
	return unusual
}
