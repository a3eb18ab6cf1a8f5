package schema

// array checks v against the array keywords of n.
func (e *evaluation) array(n *node, elements []any, at *location, out *outcome) {
	r := &n.array
	if r.min != unlimited && len(elements) < r.min {
		e.fail(n, "minItems", at, out)
	}
	if r.max != unlimited && len(elements) > r.max {
		e.fail(n, "maxItems", at, out)
	}
	if r.unique && !e.budget.unique(elements) {
		e.fail(n, "uniqueItems", at, out)
	}
	if len(r.prefix) == 0 && r.rest == nil && r.contains == nil {
		return
	}
	at.openArray(len(elements))
	for i, element := range elements {
		if e.over(out) {
			return
		}
		switch {
		case i < len(r.prefix):
			e.visit(r.prefix[i], element, at.child(i), out)
		case r.rest != nil:
			e.visit(r.rest, element, at.child(i), out)
		default:
			continue
		}
		if e.schema.tracks {
			out.seen.add(i)
		}
	}
	if r.contains != nil {
		e.contains(n, elements, at, out)
	}
}

func (e *evaluation) contains(n *node, elements []any, at *location, out *outcome) {
	r, fit := &n.array, 0
	for i, element := range elements {
		result := e.try(r.contains, element, at.child(i))
		if !result.ok {
			continue
		}
		fit++
		e.claim(element, at.child(i), result.seen, false)
		if r.fitEvaluates && e.schema.tracks {
			out.seen.add(i)
		}
	}
	if r.minFit != unlimited && fit < r.minFit {
		keyword := "contains"
		if _, ok := n.raw["minContains"]; ok {
			keyword = "minContains"
		}
		e.fail(n, keyword, at, out)
	}
	if r.maxFit != unlimited && fit > r.maxFit {
		e.fail(n, "maxContains", at, out)
	}
}
