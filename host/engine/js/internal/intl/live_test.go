package intl_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// testCase is a test case that the script testdata/node.mjs can execute.
type testCase struct {
	Kind    string  `json:"kind"`
	Locale  string  `json:"locale"`
	Options options `json:"options"`
	Value   any     `json:"value"`
	Unit    string  `json:"unit,omitempty"`
}

// answer is the result of a test case. The result is the class of an error, or a text with its
// parts and the resolved options.
type answer struct {
	text     string
	parts    string
	resolved map[string]any
	err      string
	refused  bool // true if this package rejects a case that Node accepts
}

// ask returns Node's results for test cases.
func ask(t *testing.T, cases []testCase) (answers []answer) {
	t.Helper()
	for _, line := range askRaw(t, cases) {
		answers = append(answers, parseAnswer(t, line))
	}
	return answers
}

// askRaw returns Node's results for test cases as JSON.
func askRaw(t *testing.T, cases []testCase) (answers []json.RawMessage) {
	t.Helper()
	node := intl.NodeOfCLDR(t)
	var in bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	command := exec.Command(node, "testdata/node.mjs")
	command.Stdin, command.Stderr = &in, os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		answers = append(answers, bytes.Clone(lines.Bytes()))
	}
	if len(answers) != len(cases) {
		t.Fatalf("node has %d answers to %d cases", len(answers), len(cases))
	}
	return answers
}

func parseAnswer(t *testing.T, line []byte) (a answer) {
	t.Helper()
	var failed struct{ Error string }
	if json.Unmarshal(line, &failed) == nil {
		return answer{err: failed.Error}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(list[0], &a.text); err != nil {
		t.Fatal(err)
	}
	if len(list) < 3 {
		return a
	}
	var parts []intl.Part
	if err := json.Unmarshal(list[1], &parts); err != nil {
		t.Fatal(err)
	}
	a.parts = partsText(parts)
	if err := json.Unmarshal(list[2], &a.resolved); err != nil {
		t.Fatal(err)
	}
	return a
}

func failure(err error) answer {
	var e *intl.Error
	if !errors.As(err, &e) {
		return answer{err: "internal: " + err.Error()}
	}
	return answer{err: e.Kind, refused: strings.Contains(e.Message, "not supported by toolrun"), text: e.Message}
}

func partsText(parts []intl.Part) (text string) {
	for _, p := range parts {
		text += p.Type + "=" + p.Value + strings.TrimSuffix("/"+p.Unit, "/") + "|"
	}
	return text
}

func resolvedMap(list []intl.Option) map[string]any {
	text := "{"
	for i, o := range list {
		if i > 0 {
			text += ","
		}
		value, _ := json.Marshal(o.Value)
		text += strconv.Quote(o.Name) + ":" + string(value)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text+"}"), &m); err != nil {
		panic(err)
	}
	return m
}

func decimalOf(v any) intl.Decimal {
	switch v := v.(type) {
	case float64:
		return intl.NewFloat(v)
	case int:
		return intl.NewFloat(float64(v))
	case string:
		f, err := strconv.ParseFloat(v, 64)
		if err != nil {
			panic(err)
		}
		return intl.NewFloat(f)
	}
	panic(fmt.Sprintf("no number: %v", v))
}

// ours returns this package's result for a test case.
func ours(c testCase) (a answer) {
	tag, err := intl.ParseTag(c.Locale)
	if err != nil {
		return failure(err)
	}
	list := []intl.Tag{tag}
	switch c.Kind {
	case "NumberFormat":
		f, err := intl.NewNumberFormat(list, c.Options)
		if err != nil {
			return failure(err)
		}
		parts, err := f.Parts(decimalOf(c.Value))
		if err != nil {
			return failure(err)
		}
		return answer{text: intl.Join(parts), parts: partsText(parts), resolved: resolvedMap(f.Resolved())}
	case "DateTimeFormat", "toLocaleString", "toLocaleDateString", "toLocaleTimeString":
		defaults := map[string]intl.Defaults{"DateTimeFormat": intl.DefaultsOfConstructor, "toLocaleString": intl.DefaultsOfDateTime,
			"toLocaleDateString": intl.DefaultsOfDate, "toLocaleTimeString": intl.DefaultsOfTime}[c.Kind]
		f, err := intl.NewDateTimeFormat(list, c.Options, defaults, time.UTC)
		if err != nil {
			return failure(err)
		}
		parts, err := f.Parts(c.Value.(float64))
		if err != nil {
			return failure(err)
		}
		if a.text, err = f.Format(c.Value.(float64)); err != nil {
			return failure(err)
		}
		if c.Kind == "DateTimeFormat" {
			a.parts, a.resolved = partsText(parts), resolvedMap(f.Resolved())
		}
		return a
	}
	return oursOther(c, list)
}

// tally counts the results for a locale: equal results, rejected test cases and wrong results.
type tally struct{ equal, refused, wrong int }

// compare compares this package's results with the results of Node, and reports the differences.
func compare(t *testing.T, cases []testCase, show int) {
	t.Helper()
	theirs := ask(t, cases)
	counts := map[string]*tally{}
	for i, c := range cases {
		if counts[c.Locale] == nil {
			counts[c.Locale] = &tally{}
		}
		n := counts[c.Locale]
		a := ours(c)
		switch {
		case a.refused:
			n.refused++
		case a.err == theirs[i].err && (a.err != "" || a.text == theirs[i].text && a.parts == theirs[i].parts && reflect.DeepEqual(a.resolved, theirs[i].resolved)):
			n.equal++
		default:
			n.wrong++
			if show--; show >= 0 {
				t.Errorf("%s %s %v of %v\n got %s %q %+q\nwant %s %q %+q%s", c.Kind, c.Locale, c.Options, c.Value,
					a.err, a.text, a.parts, theirs[i].err, theirs[i].text, theirs[i].parts, differences(a.resolved, theirs[i].resolved))
			}
		}
	}
	var names []string
	total := tally{}
	for name, n := range counts {
		names = append(names, name)
		total.equal += n.equal
		total.refused += n.refused
		total.wrong += n.wrong
	}
	sort.Strings(names)
	for _, name := range names {
		if n := counts[name]; n.wrong > 0 || testing.Verbose() {
			t.Logf("%-12s equal %d, refused %d, wrong %d", name, n.equal, n.refused, n.wrong)
		}
	}
	t.Logf("all: equal %d, refused %d, wrong %d", total.equal, total.refused, total.wrong)
	if total.wrong > 0 {
		t.Errorf("%d of %d answers differ", total.wrong, len(cases))
	}
}

func differences(got, want map[string]any) (text string) {
	for name, value := range want {
		if got != nil && !reflect.DeepEqual(got[name], value) {
			text += fmt.Sprintf("\n%s: got %v, want %v", name, got[name], value)
		}
	}
	for name, value := range got {
		if _, ok := want[name]; !ok && want != nil {
			text += fmt.Sprintf("\n%s: got %v, want none", name, value)
		}
	}
	return text
}

// usual contains locales that real tools use. It also contains some locales that have special
// scripts or rules.
var usual = strings.Fields("en-US en-GB de fr es ja sv pt-BR it pt nl da nb fi pl cs ru uk tr ar he hi ko zh zh-TW en-IN en-CA en-AU de-AT de-CH fr-CA fr-CH es-MX es-419 hu ro el bg hr sk sl sr sr-Latn lt lv et vi id th fa bn ta mr gu te kn ml ur my km lo ka hy az kk uz mn ne si sw am zu af ca eu gl is ga cy ms fil pt-PT zh-HK nn en sq mk bs be zh-CN sr-RS sr-ME de-DE fr-FR es-ES no-NO en-DE en-NL en-150 ar-EG ar-SA tr-TR ht haw nb-NO uz-AF sr-Cyrl-ME pt-CV fr-ML en-NZ en-IE en-ZA xx")

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// maybe adds, with a probability of 1/n, an option with one of the given values.
func maybe(r *rand.Rand, o options, n int, name string, values ...any) {
	if r.IntN(n) == 0 {
		o[name] = pick(r, values...)
	}
}

func locales(r *rand.Rand) string {
	if only := os.Getenv("INTL_LOCALES"); only != "" {
		return pick(r, strings.Fields(only)...)
	}
	if r.IntN(2) == 0 {
		return pick(r, usual[:8]...)
	}
	return pick(r, usual...)
}

func numberValue(r *rand.Rand) any {
	switch r.IntN(8) {
	case 0:
		return pick[any](r, 0.0, "-0", "NaN", "Infinity", "-Infinity", 1.0, 2.0, 5.0, -1.0, 0.5, 1.5, 2.5, 1e21, 1e-7, 999999.0, 999.5, 0.999)
	case 1:
		return float64(r.IntN(200) - 20)
	case 2:
		return math.Round(r.Float64()*1e6) / 100
	}
	exponent := r.IntN(24) - 5
	v := (r.Float64() - 0.3) * math.Pow(10, float64(exponent))
	if r.IntN(2) == 0 {
		v = math.Round(v)
	}
	if v == 0 {
		return 0.0
	}
	return v
}

func numberCase(r *rand.Rand) testCase {
	o := options{}
	switch r.IntN(5) {
	case 0, 1:
		o["style"] = "currency"
		o["currency"] = pick(r, "USD", "EUR", "GBP", "JPY", "INR", "BRL", "SEK", "CHF", "KRW", "KWD", "XYZ")
		maybe(r, o, 2, "currencyDisplay", "code", "symbol", "name", "narrowSymbol")
		maybe(r, o, 3, "currencySign", "standard", "accounting")
	case 2:
		o["style"] = "percent"
	case 3:
		if r.IntN(2) == 0 {
			o["style"] = "unit"
			o["unit"] = pick(r, "kilometer", "mile", "celsius", "liter", "hour", "day", "megabyte", "percent", "kilogram", "kilometer-per-hour", "mile-per-gallon", "byte", "year", "meter-per-second", "gram-per-liter", "degree", "byte-per-second", "foot")
			maybe(r, o, 2, "unitDisplay", "short", "long", "narrow")
		}
	}
	maybe(r, o, 3, "minimumFractionDigits", 0, 1, 2, 5)
	maybe(r, o, 3, "maximumFractionDigits", 0, 1, 2, 3, 6, 20, 21)
	maybe(r, o, 8, "minimumIntegerDigits", 1, 2, 5, 21, 22)
	maybe(r, o, 8, "minimumSignificantDigits", 1, 2, 3, 7)
	maybe(r, o, 6, "maximumSignificantDigits", 1, 2, 3, 5, 21)
	maybe(r, o, 4, "useGrouping", true, false, "auto", "always", "min2", "true")
	maybe(r, o, 4, "notation", "standard", "compact", "scientific", "engineering")
	maybe(r, o, 3, "compactDisplay", "short", "long")
	maybe(r, o, 5, "signDisplay", "auto", "never", "always", "exceptZero", "negative")
	maybe(r, o, 8, "roundingMode", "ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfTrunc", "halfEven")
	maybe(r, o, 12, "roundingPriority", "auto", "morePrecision", "lessPrecision")
	maybe(r, o, 15, "roundingIncrement", 1, 5, 25, 3)
	maybe(r, o, 12, "trailingZeroDisplay", "auto", "stripIfInteger")
	maybe(r, o, 30, "style", "bogus")
	return testCase{Kind: "NumberFormat", Locale: locales(r), Options: o, Value: numberValue(r)}
}

func dateCase(r *rand.Rand) testCase {
	o := options{}
	style := r.IntN(5)
	if style == 0 {
		maybe(r, o, 2, "dateStyle", "full", "long", "medium", "short")
		maybe(r, o, 2, "timeStyle", "full", "long", "medium", "short")
	}
	if style > 1 {
		n := pick(r, 2, 2, 3, 6)
		maybe(r, o, n, "weekday", "narrow", "short", "long")
		maybe(r, o, 12, "era", "narrow", "short", "long")
		maybe(r, o, n, "year", "numeric", "2-digit")
		maybe(r, o, n, "month", "numeric", "2-digit", "long", "short", "narrow")
		maybe(r, o, n, "day", "numeric", "2-digit")
		maybe(r, o, 15, "dayPeriod", "narrow", "short", "long")
		maybe(r, o, n, "hour", "numeric", "2-digit")
		maybe(r, o, n, "minute", "numeric", "2-digit")
		maybe(r, o, n+1, "second", "numeric", "2-digit")
		maybe(r, o, 12, "fractionalSecondDigits", 1, 2, 3, 4)
	}
	if style != 0 {
		maybe(r, o, 4, "timeZoneName", "short", "long", "shortOffset", "longOffset")
	}
	maybe(r, o, 4, "hour12", true, false)
	maybe(r, o, 8, "hourCycle", "h11", "h12", "h23", "h24")
	maybe(r, o, 2, "timeZone", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Asia/Kolkata", "Europe/London", "America/Los_Angeles", "Australia/Sydney", "utc", "Africa/Cairo", "America/Sao_Paulo", "Europe/Dublin", "Asia/Kathmandu", "Nowhere/Land", "Pacific/Auckland", "Etc/GMT+5", "GMT")
	kind := pick(r, "DateTimeFormat", "DateTimeFormat", "toLocaleString", "toLocaleDateString", "toLocaleTimeString")
	value := math.Round(r.Float64() * 2e12)
	switch r.IntN(6) {
	case 0:
		value = pick(r, 0.0, 86400000*365.25*30, 43200000, 1.7e12, -62167219200001)
	case 1:
		value = 3600000 * math.Round(value/3600000)
	}
	if r.IntN(50) == 0 {
		value = math.Round((r.Float64() - 0.5) * 1.6e15)
	}
	return testCase{Kind: kind, Locale: locales(r), Options: o, Value: value}
}

// size returns the number of random test cases. The environment variable INTL_CASES changes the
// number of cases.
func size() int {
	if n, err := strconv.Atoi(os.Getenv("INTL_CASES")); err == nil {
		return n
	}
	return 4000
}

func random(t *testing.T, seed uint64, make func(*rand.Rand) testCase) {
	r := rand.New(rand.NewPCG(seed, 1))
	cases := []testCase{}
	for range size() {
		cases = append(cases, make(r))
	}
	compare(t, cases, 12)
}

func TestNumberFormatAsNode(t *testing.T)   { random(t, 1, numberCase) }
func TestDateTimeFormatAsNode(t *testing.T) { random(t, 2, dateCase) }
