package schema

// addChildren adds the visit counts of the members or elements of a value. The counts are upper
// bounds if a regular expression or a condition determines which schemas apply.
func (b *costAnalysis) addChildren(reached tally, kind kinds, depth int) {
	var nodes []*node
	for _, n := range nodesOf(reached) {
		if !n.trivial && (n.types == 0 || n.types&kind != 0) {
			nodes = append(nodes, n)
		}
	}
	switch kind {
	case array:
		b.elements(nodes, reached, depth)
	case object:
		b.members(nodes, reached, depth)
	}
}

// elements adds one count for each element that prefixItems lists, and one count for all other
// elements.
func (b *costAnalysis) elements(nodes []*node, reached tally, depth int) {
	longest := 0
	for _, n := range nodes {
		longest = max(longest, len(n.array.prefix))
	}
	for i := 0; i <= longest && b.steps <= maxCostSteps; i++ {
		times := tally{}
		for _, n := range nodes {
			b.steps++
			r := &n.array
			if i < len(r.prefix) {
				times.addChild(r.prefix[i], reached[n])
			} else {
				times.addChild(r.rest, reached[n])
			}
			times.addChild(r.contains, reached[n])
			times.addChild(r.unevaluated, reached[n])
		}
		b.add(times, depth)
	}
}

// members adds counts for each member that a schema lists, for all other members, and for the names
// of members, which propertyNames checks.
func (b *costAnalysis) members(nodes []*node, reached tally, depth int) {
	listed := map[string]tally{}
	other, names := tally{}, tally{}
	var general []*node // nodes that apply schemas to members without listing the names of these members
	for _, n := range nodes {
		r := &n.object
		for name, sub := range r.properties {
			b.steps++
			if listed[name] == nil {
				listed[name] = tally{}
			}
			listed[name].addChild(sub, reached[n])
		}
		if len(r.patterns) > 0 || r.additional != nil || r.unevaluated != nil {
			general = append(general, n)
			b.unlisted(other, n, "", false, reached[n])
		}
		names.addChild(r.names, reached[n])
	}
	for _, name := range sortedKeys(listed) {
		for _, n := range general {
			if b.steps > maxCostSteps {
				return
			}
			b.unlisted(listed[name], n, name, true, reached[n])
		}
		b.add(listed[name], depth)
	}
	b.add(other, depth)
	b.add(names, depth)
}

// unlisted adds the counts of the schemas that n applies to a member in addition to those in
// properties. name is the name of the member, if known. The schema of additionalProperties and the
// schemas of patternProperties never apply to the same member.
func (b *costAnalysis) unlisted(times tally, n *node, name string, known bool, count int) {
	b.steps++
	r := &n.object
	_, declared := r.properties[name]
	declared = declared && known
	matching, other := tally{}, tally{}
	for _, p := range r.patterns {
		b.steps += 1 + p.pattern.cost(name)/16
		if known && !p.pattern.matches(name) {
			continue
		}
		declared = declared || known
		matching.addChild(p.schema, count)
	}
	if !declared {
		other.addChild(r.additional, count)
	}
	times.addEither(matching, other)
	times.addChild(r.unevaluated, count)
}

// tally maps each schema to the number of times that it is applied.
type tally map[*node]int

func (t tally) add(n *node, count int) {
	t[n] = min(t[n]+count, 2*maxVisits)
}

// addChild adds the count of the subschema n. addChild counts a $ref as its target: addEither can
// then detect that two references have the same target.
func (t tally) addChild(n *node, count int) {
	if n != nil {
		t.add(n.plainly(), count)
	}
}

// addEither adds the larger of two counts for each schema. addEither is meant for two cases that
// exclude each other.
func (t tally) addEither(one, other tally) {
	for n, count := range one {
		t.add(n, max(count, other[n]))
	}
	for n, count := range other {
		if _, ok := one[n]; !ok {
			t.add(n, count)
		}
	}
}
