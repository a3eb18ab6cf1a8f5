package schema

import "slices"

// discriminator distinguishes the branches of an anyOf or oneOf by one property. Every branch
// requires the property and allows different values of it, so an object can match at most one
// branch, and only that branch is checked. Recursive schemas often contain such unions, for example
// for the nodes of a syntax tree. Without a discriminator, the validation of such unions would take
// exponential time.
type discriminator struct {
	keyword  string
	property string
	branches []*node
	rules    []*node        // the schemas of the property, one for each branch
	byValue  map[string]int // maps the identity of a value to the index of the branch that allows the value
}

// discriminatorOf returns a discriminator for the branches, or nil if there is none.
func discriminatorOf(keyword string, branches []*node) *discriminator {
	if len(branches) < 2 {
		return nil
	}
	for _, property := range branches[0].plainly().object.listed {
		if s := discriminatorBy(property, keyword, branches); s != nil {
			return s
		}
	}
	return nil
}

func discriminatorBy(property, keyword string, branches []*node) *discriminator {
	s := &discriminator{keyword: keyword, property: property, branches: branches, byValue: map[string]int{}}
	for i, branch := range branches {
		object := &branch.plainly().object
		rule, ok := object.properties[property]
		if !ok || !slices.Contains(object.required, property) {
			return nil
		}
		rule = rule.plainly()
		if len(rule.values) == 0 {
			return nil
		}
		for id := range rule.values[0].allowed {
			if _, taken := s.byValue[id]; taken {
				return nil
			}
			s.byValue[id] = i
		}
		s.rules = append(s.rules, rule)
	}
	return s
}

// plainly follows n to its target if n consists only of a $ref. Otherwise, it returns n.
func (n *node) plainly() *node {
	for range maxNesting { // a $ref that refers to itself is found later, by checkCost
		if !n.alias {
			break
		}
		n = n.applicators.ref
	}
	return n
}

// annotations are keywords that do not change the meaning of a $ref next to them.
var annotations = []string{"$ref", "title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"}

// isAlias reports whether n consists only of a $ref and annotations.
func (n *node) isAlias(refAlone bool) bool {
	if n.applicators.ref == nil {
		return false
	}
	for keyword := range n.raw {
		if !refAlone && !slices.Contains(annotations, keyword) {
			return false
		}
	}
	return n.raw != nil
}

// choose checks an object against the only branch that the object can match, and reports whether
// the object matches. If the branch does not match, choose stores the findings in the argument
// "nearest".
func (e *evaluation) choose(s *discriminator, object map[string]any, at *location, out *outcome, nearest *branch) bool {
	value, ok := object[s.property]
	if !ok {
		nearest.findings = []finding{{at: at, missing: s.property, rule: s.branches[0].plainly(), keyword: "required"}}
		return false
	}
	id := identity(value)
	e.budget.spend(1 + len(id)/16)
	i, ok := s.byValue[id]
	if !ok {
		index, _ := slices.BinarySearch(at.open(object), s.property)
		nearest.findings = []finding{{at: at.child(index), rule: s.rules[0], keyword: s.rules[0].values[0].keyword}}
		return false
	}
	return e.branch(s.branches[i], object, at, out, nearest)
}
