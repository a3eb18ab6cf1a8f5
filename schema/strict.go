package schema

// claim is the effect of one schema on the names of one object. claim contains the evaluated names.
// The field "closes" is true if the schema closes the object, because the schema has the keyword
// properties.
type claim struct {
	at     *location
	object map[string]any
	seen   marks
	closes bool
}

// claimSteps is the number of steps that a claim costs, because a claim uses memory.
const claimSteps = 16

// claim records the effect of a schema on the names of v, if the schema is strict.
func (e *evaluation) claim(v any, at *location, seen marks, closes bool) {
	object, ok := v.(map[string]any)
	if !ok || !e.schema.strict || len(object) == 0 || !e.budget.spend(claimSteps) {
		return
	}
	e.claims = append(e.claims, claim{at: at, object: object, seen: seen, closes: closes})
}

// closed is the rule that a strict schema adds to the findings about undeclared names. The findings
// of a strict schema look as if the schema contained "additionalProperties": false.
var closed = &node{keyword: "additionalProperties", trivial: true, never: true}

// close adds a finding for each name of a closed object that no schema has evaluated. close runs
// last, when all schemas that apply to the object are known. Because closed objects are checked
// last, Strict never changes which branches a value matches.
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
