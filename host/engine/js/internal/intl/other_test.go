package intl_test

import (
	"math/rand/v2"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

func oursOther(c testCase, list []intl.Tag) answer {
	switch c.Kind {
	case "PluralRules":
		f, err := intl.NewPluralRules(list, c.Options)
		if err != nil {
			return failure(err)
		}
		category, err := f.Select(decimalOf(c.Value))
		if err != nil {
			return failure(err)
		}
		return answer{text: category, resolved: resolvedMap(f.Resolved())}
	case "RelativeTimeFormat":
		f, err := intl.NewRelativeTimeFormat(list, c.Options)
		if err != nil {
			return failure(err)
		}
		parts, err := f.Parts(decimalOf(c.Value), c.Unit)
		if err != nil {
			return failure(err)
		}
		return answer{text: intl.Join(parts), parts: partsText(parts), resolved: resolvedMap(f.Resolved())}
	case "ListFormat":
		f, err := intl.NewListFormat(list, c.Options)
		if err != nil {
			return failure(err)
		}
		parts := f.Parts(c.Value.([]string))
		return answer{text: intl.Join(parts), parts: partsText(parts), resolved: resolvedMap(f.Resolved())}
	case "Collator":
		return oursCollator(c, list)
	case "Casing":
		return oursCasing(c, list)
	case "Tag":
		return answer{text: list[0].String()}
	}
	panic("no such kind")
}

func pluralCase(r *rand.Rand) testCase {
	o := options{}
	maybe(r, o, 2, "type", "cardinal", "ordinal")
	maybe(r, o, 5, "minimumFractionDigits", 0, 1, 2)
	maybe(r, o, 5, "maximumFractionDigits", 0, 1, 3)
	maybe(r, o, 9, "maximumSignificantDigits", 1, 2, 3)
	value := numberValue(r)
	if r.IntN(2) == 0 {
		value = float64(r.IntN(130))
	}
	return testCase{Kind: "PluralRules", Locale: pick(r, usual...), Options: o, Value: value}
}

func relativeCase(r *rand.Rand) testCase {
	o := options{}
	maybe(r, o, 2, "style", "long", "short", "narrow")
	maybe(r, o, 2, "numeric", "always", "auto")
	value := numberValue(r)
	if r.IntN(2) == 0 {
		value = float64(r.IntN(9) - 4)
	}
	unit := pick(r, "second", "minute", "hour", "day", "week", "month", "quarter", "year", "days", "years", "century")
	return testCase{Kind: "RelativeTimeFormat", Locale: pick(r, usual...), Options: o, Value: value, Unit: unit}
}

func listCase(r *rand.Rand) testCase {
	o := options{}
	maybe(r, o, 2, "type", "conjunction", "disjunction", "unit")
	maybe(r, o, 2, "style", "long", "short", "narrow")
	texts := []string{}
	for range r.IntN(6) {
		texts = append(texts, pick(r, "one", "Isla", "hielo", "hijo", "ocho", "8", "11", "שלום", "two", "Hotel", "i", "", " x ", "\u200ey"))
	}
	return testCase{Kind: "ListFormat", Locale: pick(r, append(usual, "es", "es", "he", "he")...), Options: o, Value: texts}
}

func tagCase(r *rand.Rand) testCase {
	text := pick(r, "en", "de", "zh", "iw", "in", "sh", "mo", "tl", "no", "nb", "sr", "EN", "und", "cmn", "abc", "e", "engl", "sr-cyrl", "zh-hant", "zh-Hans")
	for range r.IntN(4) {
		text += "-" + pick(r, "us", "GB", "DD", "SU", "YU", "419", "latn", "Cyrl", "1996", "posix", "valencia", "u-nu-latn", "u-ca-gregory-nu-thai", "u-kn-true", "u-attr-kn", "x-foo-b", "a-foo", "t-en", "u", "cmn", "12", "scouse", "hc-h12")
	}
	return testCase{Kind: "Tag", Locale: text}
}

func TestPluralRulesAsNode(t *testing.T)        { random(t, 3, pluralCase) }
func TestRelativeTimeFormatAsNode(t *testing.T) { random(t, 4, relativeCase) }
func TestListFormatAsNode(t *testing.T)         { random(t, 5, listCase) }
func TestTagsAsNode(t *testing.T)               { random(t, 6, tagCase) }
