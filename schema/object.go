package schema

// object checks the object keywords of n that do not apply to the values of members.
func (e *evaluation) object(n *node, object map[string]any, at *location, out *outcome) {
	r := &n.object
	if r.min != unlimited && len(object) < r.min {
		e.fail(n, "minProperties", at, out)
	}
	if r.max != unlimited && len(object) > r.max {
		e.fail(n, "maxProperties", at, out)
	}
	e.budget.spend(len(r.required))
	require(e, n, "required", r.required, object, at, out)
	for _, d := range r.dependent {
		if _, ok := object[d.property]; ok {
			e.budget.spend(len(d.required))
			require(e, n, d.keyword, d.required, object, at, out)
		}
	}
}

// members checks the members of an object against the subschemas of n.
func (e *evaluation) members(n *node, object map[string]any, at *location, out *outcome) {
	r := &n.object
	if !r.looksInside() {
		return
	}
	names := at.open(object)
	e.budget.spend(len(names))
	for i, name := range names {
		if e.over(out) {
			return
		}
		e.member(r, i, name, object[name], at, out)
	}
	if r.additional != nil {
		out.seen.all = true
	}
}

// require adds a finding for each required name that the object does not have.
func require(e *evaluation, n *node, keyword string, names []string, object map[string]any, at *location, out *outcome) {
	for _, name := range names {
		if e.over(out) {
			return
		}
		if _, ok := object[name]; !ok {
			e.lack(n, keyword, at, name, out)
		}
	}
}

// member checks the member with index i of an object against the subschemas of n.
func (e *evaluation) member(r *objectRules, i int, name string, v any, at *location, out *outcome) {
	location, declared := at.child(i), false
	if sub, ok := r.properties[name]; ok {
		declared = true
		e.visit(sub, v, location, out)
	}
	for _, p := range r.patterns {
		if e.budget.matches(p.pattern, name) {
			declared = true
			e.visit(p.schema, v, location, out)
		}
	}
	if !declared && r.additional != nil {
		e.visit(r.additional, v, location, out)
	}
	if declared && e.schema.tracks {
		out.seen.add(i)
	}
	if r.names != nil {
		e.visit(r.names, name, location, out)
	}
}

func (e *evaluation) dependentSchemas(n *node, object map[string]any, at *location, out *outcome) {
	for _, d := range n.object.dependent {
		if d.schema == nil || e.over(out) {
			continue
		}
		if _, ok := object[d.property]; ok {
			e.join(d.schema, object, at, out)
		}
	}
}

// unevaluated applies unevaluatedProperties and unevaluatedItems to the members and elements that
// no other schema has evaluated.
func (e *evaluation) unevaluated(n *node, v any, at *location, out *outcome) {
	switch v := v.(type) {
	case map[string]any:
		if n.object.unevaluated == nil {
			return
		}
		for i, name := range at.open(v) {
			if !out.seen.has(i) && !e.over(out) {
				e.visit(n.object.unevaluated, v[name], at.child(i), out)
			}
		}
		out.seen.all = true
	case []any:
		if n.array.unevaluated == nil {
			return
		}
		at.openArray(len(v))
		for i, element := range v {
			if !out.seen.has(i) && !e.over(out) {
				e.visit(n.array.unevaluated, element, at.child(i), out)
			}
		}
		out.seen.all = true
	}
}
