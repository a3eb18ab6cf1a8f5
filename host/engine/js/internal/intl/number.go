package intl

import (
	"slices"
	"strconv"
	"strings"
)

// NumberFormat implements Intl.NumberFormat, which formats numbers.
type NumberFormat struct {
	locale                     locale
	name                       string // the name of the locale, with the effective extensions
	system                     string
	digits                     []string // nil for ASCII
	style                      string
	currency, currencyDisplay  string
	currencySign               string
	unit, unitDisplay          string
	notation, compactDisplay   string
	grouping                   string // "auto", "always", "min2" or "false"
	sign                       string
	rounding                   rounding
	pattern                    numberPattern
	currencyText               string // the text that replaces the currency sign ¤
	minimumGrouping            int
	maxCompact                 int // the largest power of ten that has a compact pattern
	decimalSymbol, groupSymbol string
	plurals                    *pluralRules
}

// NewNumberFormat returns a NumberFormat for the options of the Intl.NumberFormat constructor.
func NewNumberFormat(tags []Tag, o Options) (*NumberFormat, error) {
	f := &NumberFormat{}
	if err := f.negotiate(tags, o); err != nil {
		return nil, err
	}
	if err := f.readUnits(o); err != nil {
		return nil, err
	}
	var err error
	if f.notation, err = choice(o, "NumberFormat", "notation", "standard", "standard", "scientific", "engineering", "compact"); err != nil {
		return nil, err
	}
	low, high := 0, 3
	switch f.style {
	case "currency":
		low = currencyDigits(f.currency)
		high = low
	case "percent":
		high = 0
	}
	if f.rounding, err = readRounding(o, "NumberFormat", f.notation, low, high); err != nil {
		return nil, err
	}
	if f.compactDisplay, err = choice(o, "NumberFormat", "compactDisplay", "short", "short", "long"); err != nil {
		return nil, err
	}
	if err := f.readGrouping(o); err != nil {
		return nil, err
	}
	if f.sign, err = choice(o, "NumberFormat", "signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative"); err != nil {
		return nil, err
	}
	if f.sign == "never" {
		f.currencySign = "standard" // as in Node
	}
	return f, f.prepare()
}

func (f *NumberFormat) negotiate(tags []Tag, o Options) error {
	if err := matcher(o, "NumberFormat"); err != nil {
		return err
	}
	system, err := systemOption(o)
	if err != nil {
		return err
	}
	if f.locale, err = negotiate(tags); err != nil {
		return err
	}
	var extension string
	if f.system, extension, err = f.locale.numberingSystem(system); err != nil {
		return err
	}
	f.name = resolvedName(f.locale.name, keyword{"nu", extension})
	if f.system != "latn" {
		f.digits = digitsOf(f.system)
	}
	return nil
}

// readUnits reads the options for the style, the currency and the unit. ECMA-402 calls this
// operation SetNumberFormatUnitOptions.
func (f *NumberFormat) readUnits(o Options) (err error) {
	if f.style, err = choice(o, "NumberFormat", "style", "decimal", "decimal", "percent", "currency", "unit"); err != nil {
		return err
	}
	currency, hasCurrency := o.Text("currency")
	if hasCurrency && (len(currency) != 3 || !isAlpha(currency)) {
		return rangeErrorf("Invalid currency code : %s", quoted(currency))
	}
	if f.style == "currency" && !hasCurrency {
		return typeErrorf("Currency code is required with currency style.")
	}
	if f.currencyDisplay, err = choice(o, "NumberFormat", "currencyDisplay", "symbol", "code", "symbol", "name", "narrowSymbol"); err != nil {
		return err
	}
	if f.currencySign, err = choice(o, "NumberFormat", "currencySign", "standard", "standard", "accounting"); err != nil {
		return err
	}
	unit, hasUnit := o.Text("unit")
	if hasUnit && !isUnit(unit) {
		return rangeErrorf("Invalid unit argument for Intl.NumberFormat() '%s'", quoted(unit))
	}
	if f.style == "unit" && !hasUnit {
		return typeErrorf("Unit is required with unit style.")
	}
	if f.unitDisplay, err = choice(o, "NumberFormat", "unitDisplay", "short", "short", "narrow", "long"); err != nil {
		return err
	}
	f.currency, f.unit = strings.ToUpper(currency), unit
	return nil
}

func (f *NumberFormat) readGrouping(o Options) error {
	otherwise := "auto"
	if f.notation == "compact" {
		otherwise = "min2"
	}
	text, isBool, ok := o.BoolOrText("useGrouping")
	switch {
	case !ok:
		f.grouping = otherwise
	case isBool && text == "true":
		f.grouping = "always"
	case isBool || text == "" || text == "0":
		f.grouping = "false"
	case text == "true" || text == "false":
		f.grouping = otherwise
	case slices.Contains([]string{"min2", "auto", "always"}, text):
		f.grouping = text
	default:
		return rangeErrorf("Value %s out of range for Intl.NumberFormat options property useGrouping", quoted(text))
	}
	return nil
}

func currencyDigits(code string) int {
	if text := supplemental("fraction/" + code); text != "" {
		n, _ := strconv.Atoi(text)
		return n
	}
	return 2
}

// prepare looks up the data that is the same for all numbers.
func (f *NumberFormat) prepare() error {
	f.pattern = parsePattern(f.standardPattern())
	f.minimumGrouping, _ = strconv.Atoi(f.locale.table.get("numbers/minimumGroupingDigits"))
	f.decimalSymbol, f.groupSymbol = f.symbol("decimal"), f.symbol("group")
	f.plurals = pluralsOf("cardinal", f.locale.name)
	if f.locale.name == "tr-TR" && f.style == "currency" && (f.currencyDisplay == "name" || f.currencySign == "accounting") {
		return unsupported("the name or the accounting form of a currency in tr-TR", `use the locale "tr"`)
	}
	if f.notation == "compact" && f.style == "currency" && f.system != "latn" {
		return unsupported("the compact notation of a currency with the digits "+f.system, `use numberingSystem: "latn"`)
	}
	if f.notation == "compact" {
		f.maxCompact = f.largestCompact()
	}
	if f.style != "currency" {
		return nil
	}
	if s := f.symbol("currencyDecimal"); s != "" {
		f.decimalSymbol = s
	}
	if s := f.symbol("currencyGroup"); s != "" {
		f.groupSymbol = s
	}
	base := "currency/" + f.currency + "/"
	f.currencyText = f.currency
	switch f.currencyDisplay {
	case "name":
		if f.locale.Language == "my" {
			return unsupported("the name of a currency in Burmese", `use currencyDisplay: "code"`)
		}
		if slices.Contains(strings.Fields(supplemental("currencies/former")), f.currency) {
			return unsupported("the name of the former currency "+f.currency, `use currencyDisplay: "code"`)
		}
	case "symbol":
		f.currencyText = firstOf(f.locale.table.get(base+"symbol"), f.currency)
	case "narrowSymbol":
		f.currencyText = firstOf(f.locale.table.get(base+"symbol-alt-narrow"), f.locale.table.get(base+"symbol"), f.currency)
	}
	return nil
}

func (f *NumberFormat) standardPattern() string {
	base := "numbers/" + f.system + "/"
	switch {
	case f.style == "percent" && f.notation != "compact", f.percentUnit():
		return f.locale.table.get(base + "percentFormats/standard")
	case f.style == "currency" && f.currencyDisplay != "name" && f.currencySign == "accounting":
		return f.locale.table.get(base + "currencyFormats/accounting")
	case f.style == "currency" && f.currencyDisplay != "name":
		return f.locale.table.get(base + "currencyFormats/standard")
	}
	return f.locale.table.get(base + "decimalFormats/standard")
}

// percentUnit reports whether the unit is formatted like a percent sign.
func (f *NumberFormat) percentUnit() bool {
	return f.style == "unit" && f.unit == "percent" && f.notation != "compact" && f.unitDisplay != "long"
}

func (f *NumberFormat) symbol(name string) string {
	return f.locale.table.get("numbers/" + f.system + "/symbols/" + name)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Option is a member of the object that resolvedOptions returns. The value of an Option is a
// string, an int or a bool.
type Option struct {
	Name  string
	Value any
}

// Resolved returns the result of resolvedOptions: the options that the NumberFormat uses.
func (f *NumberFormat) Resolved() []Option {
	options := []Option{{"locale", f.name}, {"numberingSystem", f.system}, {"style", f.style}}
	switch f.style {
	case "currency":
		options = append(options, Option{"currency", f.currency}, Option{"currencyDisplay", f.currencyDisplay}, Option{"currencySign", f.currencySign})
	case "unit":
		options = append(options, Option{"unit", f.unit}, Option{"unitDisplay", f.unitDisplay})
	}
	options = append(options, f.rounding.resolved()...)
	var grouping any = f.grouping
	if f.grouping == "false" {
		grouping = false
	}
	options = append(options, Option{"useGrouping", grouping}, Option{"notation", f.notation})
	if f.notation == "compact" {
		options = append(options, Option{"compactDisplay", f.compactDisplay})
	}
	options = append(options, Option{"signDisplay", f.sign})
	return append(options, f.rounding.resolvedModes()...)
}

func (r *rounding) resolved() []Option {
	options := []Option{{"minimumIntegerDigits", r.minInteger}}
	if r.fraction {
		options = append(options, Option{"minimumFractionDigits", r.minFraction}, Option{"maximumFractionDigits", r.maxFraction})
	}
	if r.significant {
		options = append(options, Option{"minimumSignificantDigits", r.minDigits}, Option{"maximumSignificantDigits", r.maxDigits})
	}
	return options
}

func (r *rounding) resolvedModes() []Option {
	priority := r.priority
	if r.trailing == "stripIfInteger" {
		priority = "auto" // as in Node
	}
	return []Option{{"roundingIncrement", r.increment}, {"roundingMode", r.mode}, {"roundingPriority", priority}, {"trailingZeroDisplay", r.trailing}}
}
