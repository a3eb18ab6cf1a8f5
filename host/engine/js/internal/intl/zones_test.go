package intl_test

import (
	"math/rand/v2"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

func TestZonesAsNode(t *testing.T) {
	zones, err := intl.SupportedValues("timeZone")
	if err != nil {
		t.Fatal(err)
	}
	random(t, 9, func(r *rand.Rand) testCase {
		o := options{"dateStyle": "medium", "timeStyle": pick(r, "medium", "full", "long"), "timeZone": pick(r, zones...)}
		year := pick(r, 1850, 1900, 1920, 1945, 1960, 1975, 1990, 2005, 2015, 2024, 2035, 2100)
		value := float64(year-1970)*365.25*86400000 + float64(r.IntN(15*365))*86400000 + float64(r.IntN(86400000))
		return testCase{Kind: "DateTimeFormat", Locale: pick(r, "en-US", "en-GB", "de"), Options: o, Value: value}
	})
}
