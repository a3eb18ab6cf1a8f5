package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// evaluation is the state of one validation of one document. The validation ends when the budget is
// exceeded. The number of findings that an evaluation stores is bounded. Findings contain the
// positions of values, but never the values.
type evaluation struct {
	schema *Schema
	budget budget
	quiet  int // positive if only the outcome matters, as under "not"
	scope  []string
	found  []finding
	claims []claim
}

// finding is a violation that is not formatted yet.
type finding struct {
	at      *location
	missing string // the name of the missing member, if a member of the object at this location is missing
	rule    *node
	keyword string
}

// outcome is the result of checking a value against a schema.
type outcome struct {
	ok   bool
	seen marks // the members or elements that the applied schemas evaluated
	// declares is true if one of the applied schemas lists properties. If declares is true, a
	// strict schema closes the object.
	declares bool
}

func (s *Schema) evaluate(n *node, doc any, root *location) []abi.Violation {
	e := &evaluation{schema: s, budget: budget{left: s.limits.Work}}
	if s.dynamic {
		e.scope = []string{s.root.resource}
	}
	out := outcome{ok: true}
	e.visit(n, doc, root, &out)
	if !e.hushed() {
		e.close()
	}
	if e.budget.exceeded() {
		return []abi.Violation{{Keyword: MaxWork, Limit: json.RawMessage(strconv.Itoa(s.limits.Work))}}
	}
	return e.violations()
}

// hushed reports whether the caller needs no more findings. If no more findings are needed, the
// first failure ends the check.
func (e *evaluation) hushed() bool {
	return e.quiet > 0 || e.budget.exceeded() || len(e.found) >= e.schema.limits.Violations
}

// The method "over" reports whether the value is already known to mismatch and no more findings are
// needed.
func (e *evaluation) over(out *outcome) bool { return !out.ok && e.hushed() }

func (e *evaluation) fail(n *node, keyword string, at *location, out *outcome) {
	e.lack(n, keyword, at, "", out)
}

// lack adds a finding for a missing member of the object at this location. The argument "name" is
// the name of the missing member.
func (e *evaluation) lack(n *node, keyword string, at *location, name string, out *outcome) {
	out.ok = false
	if !e.hushed() {
		e.found = append(e.found, finding{at: at, missing: name, rule: n, keyword: keyword})
	}
}

// visit checks a value of the document against a schema: the root, an element or a member.
func (e *evaluation) visit(n *node, v any, at *location, out *outcome) {
	var result outcome
	e.apply(n, v, at, &result)
	if !result.ok {
		out.ok = false
	}
	e.claim(v, at, result.seen, result.declares)
}

// join checks v against an additional schema and adds the result to the argument "out". The value
// must match all schemas that are joined.
func (e *evaluation) join(n *node, v any, at *location, out *outcome) {
	var result outcome
	e.apply(n, v, at, &result)
	out.ok = out.ok && result.ok
	out.take(result)
}

// take adds the members that another schema has evaluated in the same object.
func (o *outcome) take(other outcome) {
	o.seen.join(other.seen)
	o.declares = o.declares || other.declares
}

// apply checks v against n and all schemas that n applies to the same value, and stores the outcome
// in the argument "out", which must be empty. The argument "out" uses less stack than a result
// would, which matters for deeply nested values.
func (e *evaluation) apply(n *node, v any, at *location, out *outcome) {
	if !e.budget.spend(1) {
		return
	}
	out.ok, out.declares = true, n.declares
	if n.trivial {
		if n.never {
			e.fail(n, n.keyword, at, out)
		}
		return
	}
	if n.types != 0 && !n.types.holds(v) {
		e.fail(n, "type", at, out)
		return
	}
	depth := len(e.scope)
	if e.schema.dynamic && e.scope[depth-1] != n.resource {
		e.scope = append(e.scope, n.resource)
	}
	e.value(n, v, at, out)
	if !e.over(out) {
		e.applicators(n, v, at, out)
	}
	if !e.over(out) {
		e.unevaluated(n, v, at, out)
	}
	e.scope = e.scope[:depth]
}

// value checks the value v against the keywords of n that apply to v itself.
func (e *evaluation) value(n *node, v any, at *location, out *outcome) {
	for _, c := range n.values {
		if !e.budget.allows(c, v) {
			e.fail(n, c.keyword, at, out)
		}
	}
	switch v := v.(type) {
	case string:
		if n.checksText() {
			e.text(n, v, at, out)
		}
	case json.Number:
		e.numeric(n, v, at, out)
	case []any:
		e.array(n, v, at, out)
	case map[string]any:
		e.object(n, v, at, out)
		e.members(n, v, at, out)
	}
}

// violations formats the findings, sorted by pointer and without duplicates.
func (e *evaluation) violations() []abi.Violation {
	var all []abi.Violation
	for _, f := range e.found {
		pointer := f.at.pointer()
		if f.missing != "" {
			pointer = join(pointer, f.missing)
		}
		all = append(all, abi.Violation{Pointer: pointer, Keyword: f.keyword, Limit: f.rule.limit(f.keyword)})
	}
	slices.SortStableFunc(all, compareViolations)
	all = slices.CompactFunc(all, func(a, b abi.Violation) bool { return compareViolations(a, b) == 0 })
	return all[:min(len(all), e.schema.limits.Violations)]
}

func compareViolations(a, b abi.Violation) int {
	return cmp.Or(
		strings.Compare(a.Pointer, b.Pointer),
		strings.Compare(a.Keyword, b.Keyword),
		bytes.Compare(a.Limit, b.Limit),
	)
}
