package intl_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "let Node write the vectors anew")

const vectorsFile = "testdata/vectors.jsonl.gz"

// vector is a test case with the result that Node 20 returned. The script testdata/node.mjs writes
// the result.
type vector struct {
	Case   testCase        `json:"case"`
	Answer json.RawMessage `json:"answer"`
}

// TestVectors compares the results of the package with recorded results of Node. The package may
// reject a test case. If the package returns a result, the result must equal the recorded result.
// The package must not reject a case that is marked as common.
func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	equal, refused := 0, 0
	for _, v := range readVectors(t) {
		got, want := ours(v.Case), parseAnswer(t, v.Answer)
		switch {
		case got.refused && v.Case.Unit != plainCase:
			refused++
		case got.err == want.err && (got.err != "" || got.text == want.text && got.parts == want.parts && reflect.DeepEqual(got.resolved, want.resolved)):
			equal++
		default:
			t.Errorf("%s %s %v of %v\n got %s %q %+q\nwant %s %q %+q%s", v.Case.Kind, v.Case.Locale, v.Case.Options, v.Case.Value,
				got.err, got.text, got.parts, want.err, want.text, want.parts, differences(got.resolved, want.resolved))
		}
	}
	t.Logf("equal %d, refused %d", equal, refused)
	if equal < 5000 || refused > equal/4 {
		t.Errorf("equal %d, refused %d; want more", equal, refused)
	}
}

func readVectors(t *testing.T) (vectors []vector) {
	t.Helper()
	file, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		v.Case.normalise()
		vectors = append(vectors, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// normalise converts each list of the type []any, which JSON decoding produces, to a list of
// strings.
func (c *testCase) normalise() {
	list, ok := c.Value.([]any)
	if !ok {
		return
	}
	texts := []string{}
	for _, v := range list {
		texts = append(texts, v.(string))
	}
	c.Value = texts
}

func writeVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 48))
	cases := plainCases()
	for _, make := range []func(*rand.Rand) testCase{numberCase, dateCase, pluralCase, relativeCase, listCase, tagCase, collatorCase, casingCase} {
		for range 500 {
			cases = append(cases, make(r))
		}
	}
	answers := askRaw(t, cases)
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	for i, c := range cases {
		line, err := json.Marshal(vector{c, answers[i]})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = packed.Write(append(line, '\n'))
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainCase marks test cases that the package must not reject.
const plainCase = "plain"

// plainCases returns test cases with the options and locales that real tools use.
func plainCases() (cases []testCase) {
	dates := []options{
		{}, {"month": "long", "day": "numeric", "year": "numeric"}, {"month": "short", "day": "numeric"},
		{"month": "short", "day": "numeric", "year": "numeric"}, {"weekday": "long"}, {"weekday": "short", "month": "short", "day": "numeric"},
		{"weekday": "long", "year": "numeric", "month": "long", "day": "numeric"}, {"year": "numeric", "month": "2-digit", "day": "2-digit"},
		{"year": "numeric", "month": "long"}, {"month": "long"}, {"hour": "2-digit", "minute": "2-digit"}, {"hour": "numeric", "minute": "2-digit", "hour12": true},
		{"hour": "2-digit", "minute": "2-digit", "second": "2-digit", "hour12": false}, {"hour": "numeric", "hour12": true}, {"hourCycle": "h23", "hour": "2-digit", "minute": "2-digit"},
		{"dateStyle": "full"}, {"dateStyle": "long"}, {"dateStyle": "medium"}, {"dateStyle": "short"}, {"timeStyle": "short"}, {"timeStyle": "medium"},
		{"dateStyle": "medium", "timeStyle": "short"}, {"dateStyle": "full", "timeStyle": "long"}, {"dateStyle": "short", "timeStyle": "full"},
		{"timeZoneName": "short"}, {"timeZoneName": "long", "hour": "numeric"}, {"year": "2-digit", "month": "numeric", "day": "numeric"}, {"era": "short"},
		{"year": "numeric", "month": "2-digit", "day": "2-digit", "hour": "2-digit", "minute": "2-digit", "second": "2-digit", "fractionalSecondDigits": 3},
	}
	numbers := []options{
		{}, {"minimumFractionDigits": 2}, {"maximumFractionDigits": 0}, {"minimumFractionDigits": 2, "maximumFractionDigits": 2}, {"style": "percent"},
		{"style": "percent", "minimumFractionDigits": 1}, {"notation": "compact"}, {"notation": "compact", "compactDisplay": "long"}, {"useGrouping": false},
		{"minimumIntegerDigits": 2}, {"maximumSignificantDigits": 3}, {"style": "unit", "unit": "kilometer"}, {"style": "unit", "unit": "celsius", "unitDisplay": "long"},
		{"signDisplay": "always"}, {"notation": "scientific"},
	}
	for _, currency := range []string{"USD", "EUR", "GBP", "JPY", "INR", "BRL", "SEK"} {
		for _, o := range []options{{}, {"currencyDisplay": "code"}, {"currencyDisplay": "name"}, {"currencyDisplay": "narrowSymbol"}, {"currencySign": "accounting"}, {"minimumFractionDigits": 0}, {"maximumFractionDigits": 0}} {
			o["style"], o["currency"] = "currency", currency
			numbers = append(numbers, o)
		}
	}
	for _, locale := range usual[:8] {
		for _, o := range numbers {
			for _, value := range []float64{0, 1, -1234.5, 1234567.891, 0.256, 99.995} {
				cases = append(cases, testCase{Kind: "NumberFormat", Locale: locale, Options: o, Value: value, Unit: plainCase})
			}
		}
		for i, o := range dates {
			for _, zone := range []string{"UTC", "America/New_York", "Asia/Tokyo"} {
				zoned := options{"timeZone": zone}
				for name, value := range o {
					zoned[name] = value
				}
				cases = append(cases, testCase{Kind: "DateTimeFormat", Locale: locale, Options: zoned, Value: 1710000000000.0 + float64(i)*86400000*17, Unit: plainCase})
			}
		}
	}
	return cases
}
