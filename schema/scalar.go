package schema

import (
	"encoding/json"
	"math/big"
	"unicode/utf8"
)

// checksText reports whether n has a keyword for strings. checksText avoids calls of the method
// "text", which uses much stack, because most schemas have no keyword for strings.
func (n *node) checksText() bool {
	return n.text != (textRules{min: unlimited, max: unlimited}) || n.format != nil
}

// text checks a string against the string keywords of n.
func (e *evaluation) text(n *node, s string, at *location, out *outcome) {
	r := &n.text
	if r.min != unlimited || r.max != unlimited {
		e.budget.spend(len(s) / 64)
		length := utf8.RuneCountInString(s)
		if r.min != unlimited && length < r.min {
			e.fail(n, "minLength", at, out)
		}
		if r.max != unlimited && length > r.max {
			e.fail(n, "maxLength", at, out)
		}
	}
	if r.pattern != nil && !e.budget.matches(r.pattern, s) {
		e.fail(n, "pattern", at, out)
	}
	if n.format != nil {
		if !e.budget.spend(1+len(s)/4) || !n.format(s) {
			e.fail(n, "format", at, out)
		}
	}
}

// rationalSteps is the number of steps that exact arithmetic with two numbers costs. The length of
// a number is limited.
const rationalSteps = 16

// numeric checks a number against the number keywords of n.
func (e *evaluation) numeric(n *node, v json.Number, at *location, out *outcome) {
	r := &n.number
	if *r == (numberRules{}) || !e.budget.spend(rationalSteps) {
		return
	}
	number := rational(v)
	if r.min != nil && number.Cmp(r.min) < 0 {
		e.fail(n, "minimum", at, out)
	}
	if r.above != nil && number.Cmp(r.above) <= 0 {
		e.fail(n, "exclusiveMinimum", at, out)
	}
	if r.max != nil && number.Cmp(r.max) > 0 {
		e.fail(n, "maximum", at, out)
	}
	if r.below != nil && number.Cmp(r.below) >= 0 {
		e.fail(n, "exclusiveMaximum", at, out)
	}
	if r.multiple != nil && !new(big.Rat).Quo(number, r.multiple).IsInt() {
		e.fail(n, "multipleOf", at, out)
	}
}
