package js_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/js"
)

// TestIntl compares texts that the engine formats with texts that Node 20 formats.
func TestIntl(t *testing.T) {
	for code, want := range map[string]string{
		`new Date(0).toLocaleString("en-US", { timeZone: "America/New_York" })`:                                                                                          `"12/31/1969, 7:00:00 PM"`,
		`new Date(0).toLocaleTimeString("en-US", { timeZone: "America/New_York", hour: "2-digit", minute: "2-digit" })`:                                                  `"07:00 PM"`,
		`new Date(0).toLocaleDateString("en-US")`:                                                                                                                        `"1/1/1970"`,
		`new Date(0).toLocaleDateString("de-DE", { weekday: "long" })`:                                                                                                   `"Donnerstag"`,
		`new Date(1710000000000).toLocaleDateString("en-US", { month: "long", day: "numeric", year: "numeric" })`:                                                        `"March 9, 2024"`,
		`new Date(1710000000000).toLocaleDateString("en-GB", { dateStyle: "full" })`:                                                                                     `"Saturday, 9 March 2024"`,
		`new Date(1710000000000).toLocaleDateString("ja-JP", { year: "numeric", month: "long", day: "numeric" })`:                                                        `"2024年3月9日"`,
		`new Date(1710000000000).toLocaleString("sv-SE")`:                                                                                                                `"2024-03-09 16:00:00"`,
		`new Date(NaN).toLocaleString()`:                                                                                                                                 `"Invalid Date"`,
		`[(1234.5).toLocaleString(), (1234567.891).toLocaleString("en-US"), (1234.5).toLocaleString("de"), (5).toLocaleString(undefined, { minimumFractionDigits: 2 })]`: `["1,234.5","1,234,567.891","1.234,5","5.00"]`,
		`(1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" })`:                                                                                       `"$1,234.50"`,
		`new Intl.NumberFormat("en-IN", { style: "currency", currency: "INR", maximumFractionDigits: 0 }).format(1234567)`:                                               `"₹12,34,567"`,
		`[123456789012345678901234567890n.toLocaleString("en-US"), new Intl.NumberFormat("en").format("12345678901234567890.5")]`:                                        `["123,456,789,012,345,678,901,234,567,890","12,345,678,901,234,567,890.5"]`,
		`[1234.5, new Date(0), null, "a"].toLocaleString("de", { timeZone: "UTC", style: "percent" })`:                                                                   `"123.450 %,1.1.1970, 00:00:00,,a"`,
		`new Float64Array([1234.5, 2]).toLocaleString("de")`:                                                                                                             `"1.234,5,2"`,
		`[1, 2, 3].map(new Intl.NumberFormat("en", { minimumIntegerDigits: 2 }).format)`:                                                                                 `["01","02","03"]`,
		`new Intl.NumberFormat("de", { style: "currency", currency: "EUR" }).formatToParts(-1.5)`:                                                                        `[{"type":"minusSign","value":"-"},{"type":"integer","value":"1"},{"type":"decimal","value":","},{"type":"fraction","value":"50"},{"type":"literal","value":" "},{"type":"currency","value":"€"}]`,
		`Intl.DateTimeFormat().resolvedOptions()`:                                                                                                                        `{"locale":"en-US","calendar":"gregory","numberingSystem":"latn","timeZone":"UTC","year":"numeric","month":"numeric","day":"numeric"}`,
		`[typeof Intl, Intl.NumberFormat === Intl.NumberFormat, new Intl.NumberFormat() instanceof Intl.NumberFormat, Intl.NumberFormat("en") instanceof Intl.NumberFormat, String(new Intl.NumberFormat())]`: `["object",true,true,true,"[object Intl.NumberFormat]"]`,
		`(() => { class N extends Intl.NumberFormat { twice(x) { return this.format(2 * x); } } const n = new N("de"); return [n.twice(1.25), n instanceof N]; })()`:                                          `["2,5",true]`,
		`Intl.getCanonicalLocales(["EN-us", "zh-hant-tw", "EN-US"])`:                                                                                                                                                       `["en-US","zh-Hant-TW"]`,
		`Intl.NumberFormat.supportedLocalesOf(["de-AT", "xx", "en-u-nu-latn"])`:                                                                                                                                            `["de-AT","en-u-nu-latn"]`,
		`[Intl.supportedValuesOf("timeZone").includes("Europe/Berlin"), Intl.supportedValuesOf("currency").includes("USD")]`:                                                                                               `[true,true]`,
		`[new Intl.PluralRules("en", { type: "ordinal" }).select(22), new Intl.PluralRules("pl").select(3), new Intl.PluralRules().resolvedOptions().pluralCategories]`:                                                    `["two","few",["one","other"]]`,
		`[new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"), new Intl.RelativeTimeFormat("de").format(3, "weeks")]`:                                                                                 `["yesterday","in 3 Wochen"]`,
		`new Intl.RelativeTimeFormat("en").formatToParts(2, "day")`:                                                                                                                                                        `[{"type":"literal","value":"in "},{"type":"integer","value":"2","unit":"day"},{"type":"literal","value":" days"}]`,
		`[new Intl.ListFormat("en").format(["a", "b", "c"]), new Intl.ListFormat("es").format(new Set(["uno", "Isla"])), new Intl.ListFormat("en", { type: "disjunction" }).format([])]`:                                   `["a, b, and c","uno e Isla",""]`,
		`(() => { const l = new Intl.Locale("zh", { region: "tw", hourCycle: "h12" }); return [String(l), l.maximize().script, l.region, l.hourCycle, l.numeric, new Intl.NumberFormat(l).resolvedOptions().locale]; })()`: `["zh-TW-u-hc-h12","Hant","TW","h12",false,"zh-TW"]`,
		`["b", "a", "C", "ä"].sort((x, y) => x.localeCompare(y))`:                                                                                                                                                          `["a","ä","b","C"]`,
		`["z", "ä"].sort(new Intl.Collator("sv").compare)`:                                                                                                                                                                 `["z","ä"]`,
		`["a10", "a9", "a09b"].sort(new Intl.Collator(undefined, { numeric: true }).compare)`:                                                                                                                              `["a9","a09b","a10"]`,
		`["résumé".localeCompare("RESUME", undefined, { sensitivity: "base" }), "a".localeCompare("b"), "🎉 b".localeCompare("🎉 a"), "🎉".localeCompare("a")]`:                                                               `[0,-1,1,-1]`,
		`["i".toLocaleUpperCase("tr"), "I".toLocaleLowerCase("az"), "straße".toLocaleUpperCase(), "İ".toLocaleLowerCase("tr")]`:                                                                                            `["İ","ı","STRASSE","i"]`,
		`(() => { const a = [1.5]; a.push(a, [2.5]); return a.toLocaleString("de"); })()`:                                                                                                                                  `"1,5,,2,5"`,
		`[new Intl.NumberFormat("en").format("1e30"), new Intl.NumberFormat("en").format(" 0x10 "), new Intl.NumberFormat("en").format("x"), new Intl.NumberFormat("en").format("-Infinity")]`:                             `["1,000,000,000,000,000,000,000,000,000,000","16","NaN","-∞"]`,
		`["яма", "їжак", "іній"].sort((a, b) => a.localeCompare(b)).concat("".localeCompare.length)`:                                                                                                                       `["їжак","іній","яма",1]`,
		`typeof Object.getOwnPropertyDescriptor(Date.prototype, "toLocaleString").value + Object.keys(Date.prototype).length`:                                                                                              `"function0"`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

// TestIntlRefuses checks features of Intl that the engine cannot format exactly like Node. The
// engine must reject them.
func TestIntlRefuses(t *testing.T) {
	for code, want := range map[string]string{
		`(1).toLocaleString("en_US")`:                                                    `["RangeError","Incorrect locale information provided"]`,
		`(1).toLocaleString(null)`:                                                       `["TypeError","Cannot convert undefined or null to object"]`,
		`(1).toLocaleString("en", { style: "currency" })`:                                `["TypeError","Currency code is required with currency style."]`,
		`(1).toLocaleString("en", { maximumFractionDigits: 101 })`:                       `["RangeError","maximumFractionDigits value is out of range."]`,
		`(1).toLocaleString("en", { style: "money" })`:                                   `["RangeError","Value money out of range for Intl.NumberFormat options property style"]`,
		`(1).toLocaleString("haw")`:                                                      `["RangeError","the locale haw is not supported by toolrun's Intl; use a supported locale, such as en or de"]`,
		`(1).toLocaleString("en-u-nu-thai")`:                                             `["RangeError","the numbering system thai is not supported by toolrun's Intl; use latn"]`,
		`new Date(0).toLocaleString("th")`:                                               `["RangeError","the calendar buddhist is not supported by toolrun's Intl; use the option calendar: \"gregory\""]`,
		`new Date(0).toLocaleString("en", { timeZone: "Mars/Base" })`:                    `["RangeError","Invalid time zone specified: Mars/Base"]`,
		`new Date(0).toLocaleString("en", { dateStyle: "long", month: "long" })`:         `["TypeError","Can't set option month when dateStyle is used"]`,
		`new Intl.DateTimeFormat("en").formatRange(0, 1)`:                                `["RangeError","Intl.DateTimeFormat.prototype.formatRange is not supported by toolrun's Intl; format the start and the end separately"]`,
		`new Intl.DateTimeFormat("en").format(NaN)`:                                      `["RangeError","Invalid time value"]`,
		`new Intl.DateTimeFormat("en", { get year() { throw new TypeError("mine"); } })`: `["TypeError","mine"]`,
		`Intl.NumberFormat.prototype.formatToParts.call({}, 1)`:                          `["TypeError","Method Intl.NumberFormat.prototype.formatToParts called on incompatible receiver"]`,
		`Number.prototype.toLocaleString.call("1")`:                                      `["TypeError","Number.prototype.toLocaleString requires that 'this' be a Number"]`,
		`Intl.getCanonicalLocales({ length: 1e9 })`:                                      `["RangeError","the list of locales has more than 200 entries"]`,
		`new Intl.Segmenter("en")`:                                                       `["RangeError","Intl.Segmenter is not supported by toolrun's Intl; split the text with a regular expression"]`,
		`Intl.PluralRules("en")`:                                                         `["TypeError","Constructor Intl.PluralRules requires 'new'"]`,
		`new Intl.ListFormat("en").format([1])`:                                          `["TypeError","Iterable yielded a value which is not a string"]`,
		`new Intl.RelativeTimeFormat("en").format(1, "eon")`:                             `["RangeError","Invalid unit argument for Intl.RelativeTimeFormat.prototype.format() 'eon'"]`,
		`"ä".localeCompare("b", "ja")`:                                                   `["RangeError","string comparison in ja is not supported by toolrun's Intl; use the locale \"en\""]`,
		`"🤖".localeCompare("🦀")`:                                                         `["RangeError","comparison of two symbols in the strings is not supported by toolrun's Intl; compare the strings with < and >"]`,
		`"i".toLocaleUpperCase("el")`:                                                    `["RangeError","toLocaleUpperCase in el is not supported by toolrun's Intl; use toUpperCase"]`,
		`String.prototype.localeCompare.call(null, "a")`:                                 `["TypeError","String.prototype.localeCompare called on null or undefined"]`,
		`new Intl.NumberFormat("en").format("1e999999999")`:                              `["RangeError","a numeric string with an exponent above 1000 is not supported by toolrun's Intl; use a BigInt"]`,
		`new Date(-1e12).toLocaleString("en", { timeZone: "Europe/Amsterdam" })`:         `["RangeError","the year 1938 in the time zone Europe/Amsterdam is not supported by toolrun's Intl; use the time zone \"UTC\""]`,
		`new Intl.NumberFormat([1])`:                                                     `["TypeError","Language ID should be string or object."]`,
		`(1).toLocaleString("a".repeat(1e6))`:                                            `["RangeError","Incorrect locale information provided"]`,
	} {
		code := `try { return ["no error", ` + code + `]; } catch (e) { return [e.name, e.message]; }`
		if got := answer(t, code); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

// TestIntlOfInput runs tools that read the name of a function from the input. The tools must call
// the engine's functions, which depend on the locale.
func TestIntlOfInput(t *testing.T) {
	in := engine.Input{Input: json.RawMessage(`{"method":"toLocaleString"}`)}
	out, err := runWith(t, `return (1234.5)[input.method]();`, in, enginetest.NewMemory(errHalt))
	if err != nil || string(out.Output) != `"1,234.5"` {
		t.Errorf("answer = %s, %v; want 1,234.5", out.Output, err)
	}
}

// TestIntlStops checks that an expensive operation ends when the run ends.
func TestIntlStops(t *testing.T) {
	for _, code := range []string{
		`return [].toLocaleString.call({ length: 4e9 })`,
		`for (;;) new Intl.DateTimeFormat("en", { month: "long" }).format(0)`,
		`let p; p = new Proxy({}, { getPrototypeOf: () => p }); for (;;) Intl.NumberFormat.call(p)`,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		program, err := js.New().Load(context.Background(), engine.Source{Path: "tool.js", Code: []byte(code)})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := program.Run(ctx, engine.Input{}, engine.Host{}); err == nil || time.Since(start) > 10*time.Second {
			t.Errorf("%s ended after %v with %v", code, time.Since(start), err)
		}
		cancel()
		_ = program.Close()
	}
}
