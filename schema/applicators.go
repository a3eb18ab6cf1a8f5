package schema

import "slices"

// applicators checks v against the subschemas that n applies to v itself, such as the subschemas
// under allOf and $ref.
func (e *evaluation) applicators(n *node, v any, at *location, out *outcome) {
	r := &n.applicators
	if r.ref != nil {
		e.join(r.ref, v, at, out)
	}
	for _, ref := range r.dynamic {
		e.join(e.resolve(ref), v, at, out)
	}
	for _, sub := range r.allOf {
		if e.over(out) {
			return
		}
		e.join(sub, v, at, out)
	}
	if len(r.anyOf) > 0 {
		e.branches(n, "anyOf", r.anyOf, r.anyOfDiscriminator, v, at, out)
	}
	if len(r.oneOf) > 0 {
		e.branches(n, "oneOf", r.oneOf, r.oneOfDiscriminator, v, at, out)
	}
	if r.not != nil && e.try(r.not, v, at).ok {
		e.fail(n, "not", at, out)
	}
	if r.test != nil {
		e.conditional(r, v, at, out)
	}
	if object, ok := v.(map[string]any); ok {
		e.dependentSchemas(n, object, at, out)
	}
}

// resolve returns the schema that a dynamic reference selects: the outermost candidate in scope, or
// else the reference's target.
func (e *evaluation) resolve(ref *dynamicRef) *node {
	for _, resource := range e.scope {
		if n, ok := ref.byResource[resource]; ok {
			return n
		}
	}
	return ref.target
}

// try checks v against n without adding findings. If v matches n, the outcome contains the members
// that n has evaluated. During this check, n does not close objects.
func (e *evaluation) try(n *node, v any, at *location) outcome {
	claims := len(e.claims)
	e.quiet++
	var result outcome
	e.apply(n, v, at, &result)
	e.quiet--
	if !result.ok {
		e.claims = e.claims[:claims]
		return outcome{}
	}
	for i := range e.claims[claims:] {
		e.claims[claims+i].closes = false
	}
	result.declares = false
	return result
}

func (e *evaluation) conditional(r *applicatorRules, v any, at *location, out *outcome) {
	result := e.try(r.test, v, at)
	out.take(result)
	next := r.valueOr
	if result.ok {
		next = r.then
	}
	if next != nil {
		e.join(next, v, at, out)
	}
}

// branches checks v against the branches of an anyOf or oneOf. If no branch matches, branches adds
// the findings of the nearest branch.
func (e *evaluation) branches(n *node, keyword string, subs []*node, by *discriminator, v any, at *location, out *outcome) {
	if e.over(out) {
		return
	}
	var nearest branch
	matched := 0
	if object, ok := v.(map[string]any); ok && by != nil {
		if e.choose(by, object, at, out, &nearest) {
			matched = 1
		}
	} else {
		for _, sub := range subs {
			if e.branch(sub, v, at, out, &nearest) {
				matched++
			}
			if matched > 0 && settled(keyword, matched, e.schema.tracks) {
				break
			}
		}
	}
	switch {
	case matched == 0:
		e.fail(n, keyword, at, out)
		if !e.hushed() {
			e.found = append(e.found, nearest.findings...)
		}
		out.seen.all = true // because no branch matches, the members that a branch declares are unknown
	case matched > 1 && keyword == "oneOf":
		e.fail(n, keyword, at, out)
	}
}

// branch checks v against one branch and reports whether v matches. If v does not match, branch
// drops the claims of the branch. If the branch is the nearest one so far, the argument "nearest"
// receives its findings.
func (e *evaluation) branch(sub *node, v any, at *location, out *outcome, nearest *branch) bool {
	found, claims := len(e.found), len(e.claims)
	var result outcome
	e.apply(sub, v, at, &result)
	if result.ok {
		out.take(result)
	} else {
		e.claims = e.claims[:claims]
		nearest.consider(e.found[found:], at)
	}
	e.found = e.found[:found]
	return result.ok
}

// settled reports whether the remaining branches cannot change the outcome. If evaluated members
// are tracked, the outcome can change even after a match, because the remaining branches of an
// anyOf can evaluate more members.
func settled(keyword string, matched int, tracks bool) bool {
	if keyword == "oneOf" {
		return matched > 1
	}
	return !tracks
}

// branch contains the findings of the nearest mismatching branch. The nearest branch is the one
// with the fewest findings, but a mismatch of the type or of a constant counts as 1,000 findings.
// On a tie, the first branch is the nearest.
type branch struct {
	findings []finding
	rank     int
}

func (b *branch) consider(found []finding, at *location) {
	rank := len(found)
	for _, f := range found {
		if f.at == at && f.missing == "" && slices.Contains([]string{"type", "const", "enum"}, f.keyword) {
			rank += 1000
		}
	}
	if len(found) > 0 && (b.findings == nil || rank < b.rank) {
		b.findings, b.rank = slices.Clone(found), rank
	}
}
