package schema

// claim is the effect of one application of a schema on the names of an object. It contains the
// evaluated names, and whether the object is closed because a schema lists properties.
type claim struct {
	at     *location
	object map[string]any
	seen   marks
	closes bool
}

// claimSteps is the number of steps that a claim costs, since it takes memory.
const claimSteps = 16

// claim records the claim of a schema that was applied to v, if the schema is strict.
func (e *evaluation) claim(v any, at *location, seen marks, closes bool) {
	object, ok := v.(map[string]any)
	if !ok || !e.schema.strict || len(object) == 0 || !e.budget.spend(claimSteps) {
		return
	}
	e.claims = append(e.claims, claim{at: at, object: object, seen: seen, closes: closes})
}

// closed is a schema that rejects undeclared names. It is reported as if the checked schema contained
// it.
var closed = &node{keyword: "additionalProperties", trivial: true, never: true}

// close finds the names that no schema evaluated in objects that a schema closes. It runs last,
// when it is known which schemas apply, so that strict never changes which branch a value takes.
func (e *evaluation) close() {
	var order []*location
	sum := map[*location]*claim{}
	for i := range e.claims {
		c := &e.claims[i]
		total, ok := sum[c.at]
		if !ok {
			sum[c.at] = c
			order = append(order, c.at)
			continue
		}
		total.seen.join(c.seen)
		total.closes = total.closes || c.closes
	}
	var out outcome
	for _, at := range order {
		c := sum[at]
		if !c.closes || c.seen.all {
			continue
		}
		for i := range at.open(c.object) {
			if !c.seen.has(i) {
				e.fail(closed, closed.keyword, at.child(i), &out)
			}
		}
	}
}
