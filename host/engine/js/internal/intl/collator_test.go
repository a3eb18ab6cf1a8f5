package intl_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

func oursCollator(c testCase, list []intl.Tag) answer {
	f, err := intl.NewCollator(list, c.Options)
	if err != nil {
		return failure(err)
	}
	pair := c.Value.([]string)
	order, err := f.Compare(pair[0], pair[1])
	if err != nil {
		return failure(err)
	}
	return answer{text: map[int]string{-1: "-1", 0: "0", 1: "1"}[order], resolved: resolvedMap(f.Resolved())}
}

// words contains texts with letters of several languages.
var words = strings.Fields(`a b c d e f g h i j k l m n o p q r s t u v w x y z A B Z é É è ê ë á à â ä Ä å Å ã æ Æ ç ñ Ñ ö Ö ø Ø ó õ œ ß ü Ü ú ý ÿ
	ł Ł đ ð þ ő ű ą ć ę ń ś ź ż č ď ě ň ř š ť ů ž ă â î ș ț ş ğ ı İ ģ ķ ļ ņ ā ē ī ū ė į ų ch ll cs gy ặ ẹ ḷ l ĺ ḍ ļ dž lj nj aa AA ij ue ss
	α β γ δ ώ ω Ω σ ς а б в г ґ д е ё є ж з и і ї й ю я Я ъ ь э
	ו א ב あ ア い カ か が 一 二 三 中 国 가 나 한 ก ข 😀 🎉 👍🏽 ❤️ ★ € $ £ 0 1 2 10 007 12 99 123456789012 - _ . , ' " ( ) & @ / % + = < > ! ? # * ~`)

func collatorCase(r *rand.Rand) testCase {
	o := options{}
	maybe(r, o, 4, "numeric", true, false)
	maybe(r, o, 2, "sensitivity", "base", "accent", "case", "variant")
	maybe(r, o, 20, "caseFirst", "upper", "false")
	maybe(r, o, 20, "usage", "search")
	text := func() string {
		text := ""
		for range 1 + r.IntN(4) {
			text += pick(r, words...) + pick(r, "", "", "", " ")
		}
		return text
	}
	a := text()
	b := text()
	switch r.IntN(4) {
	case 0:
		b = a + b
	case 1:
		b = strings.NewReplacer("e", "é", "a", "A", "u", "Ü", "c", "C", "o", "ø", "1", "2", "l", "ł", "d", "đ").Replace(a)
	}
	return testCase{Kind: "Collator", Locale: locales(r), Options: o, Value: []string{a, b}}
}

func TestCollatorAsNode(t *testing.T) { random(t, 7, collatorCase) }

// TestAccentedCyrillic compares Cyrillic letters that ICU treats as one of the letters і, г and к
// with a mark. In Ukrainian, however, ICU treats ї as a separate letter. The expected orders of the
// letters come from Node.
func TestAccentedCyrillic(t *testing.T) {
	for locale, want := range map[string]string{
		"en": "Г ѓ Ѓ ѓа гб гя д і І ї Ї їb їа Їа іяяя ј ќ ка л",
		"de": "Г ѓ Ѓ ѓа гб гя д і І ї Ї їb їа Їа іяяя ј ќ ка л",
		"uk": "Г ѓ Ѓ ѓа гб гя д і І іяяя ї Ї їа Їа ј ќ ка л",
		"ru": "Г ѓ Ѓ ѓа гб гя д і І ї Ї їа Їа іяяя ј ќ ка л",
	} {
		tag, err := intl.ParseTag(locale)
		if err != nil {
			t.Fatal(err)
		}
		c, err := intl.NewCollator([]intl.Tag{tag}, options{})
		if err != nil {
			t.Fatal(err)
		}
		sorted := strings.Fields(want)
		for i, a := range sorted {
			for _, b := range sorted[i+1:] {
				if order, err := c.Compare(a, b); order != -1 || err != nil {
					t.Errorf("%s: Compare(%s, %s) = %d, %v; want -1", locale, a, b, order, err)
				}
				if order, err := c.Compare(b, a); order != 1 || err != nil {
					t.Errorf("%s: Compare(%s, %s) = %d, %v; want 1", locale, b, a, order, err)
				}
			}
		}
	}
}
