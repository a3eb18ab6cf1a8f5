package intl_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

func oursCasing(c testCase, list []intl.Tag) answer {
	text := c.Value.([]string)[0]
	upper, _, err := intl.Upper(list, text)
	if err != nil {
		return failure(err)
	}
	lower, _, err := intl.Lower(list, text)
	if err != nil {
		return failure(err)
	}
	return answer{text: upper + "|" + lower}
}

func casingCase(r *rand.Rand) testCase {
	text := ""
	for range 1 + r.IntN(6) {
		text += pick(r, "i", "I", "ı", "İ", "a", "Z", "ß", "ς", "Σ", "σ", "ά", "Ά", "ϊ", "ΐ", "ύ", "ή", "ė", "j", "į", " ", "1", "é", "ﬁ", "Ì", "í", "Ĩ", "u", "ο", "ώ", "ό")
	}
	return testCase{Kind: "Casing", Locale: pick(r, "tr", "az", "lt", "el", "tr-CY"), Value: []string{text}}
}

func TestCasingAsNode(t *testing.T) { random(t, 8, casingCase) }

func BenchmarkNewCollator(b *testing.B) {
	for b.Loop() {
		_, _ = intl.NewCollator(tags("en"), options{})
	}
}

func BenchmarkNewDateTimeFormat(b *testing.B) {
	list := tags("en-US")
	for b.Loop() {
		f, _ := intl.NewDateTimeFormat(list, options{"month": "long", "day": "numeric", "timeZone": "America/New_York"}, intl.DefaultsOfDate, time.UTC)
		_, _ = f.Format(0)
	}
}

func BenchmarkNewNumberFormat(b *testing.B) {
	list := tags("en-US")
	for b.Loop() {
		f, _ := intl.NewNumberFormat(list, options{"style": "currency", "currency": "USD"})
		_, _ = f.Format(intl.NewFloat(1234.5))
	}
}
