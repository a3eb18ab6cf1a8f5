package abl

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// The search for misspelled names compares each name with all names that are set. These constants
// limit the cost of the search.
const (
	maxComparedNames = 50
	maxSetNames      = 1000
)

// misspelled warns about a name that is never set, if the name resembles a name that is set.
// misspelled does not warn about other unknown names. The host can provide them, or they can be
// inputs of a tool.
func (c checker) misspelled() {
	if len(c.d.Flow.Steps) == 0 {
		return
	}
	known, refs := c.setNames(), c.references()
	c.addCollected(known, refs)
	for _, f := range c.d.Memory.Persistent {
		known[firstName(f.Value)] = true
	}
	for _, recall := range c.d.Memory.Recalls {
		for _, path := range recall.Paths {
			known[firstName(path.Value)] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	if len(names) > maxSetNames {
		return
	}
	compared, count := c.triggerNames(), 0
	check := func(at Position, name string) {
		if known[name] || compared[name] || count >= maxComparedNames || strings.EqualFold(name, "now") {
			return
		}
		compared[name] = true
		count++
		if best := similar(name, names); best != "" {
			c.r.warnf(at, problem.SuspiciousRule, "did you mean "+best+"?", "nothing sets %s", name)
		}
	}
	for _, ref := range refs {
		check(ref.Position, ref.Path[0])
	}
	for _, rule := range c.d.Constraints {
		for _, field := range rule.OnFail.Collect {
			check(field.Position, firstName(field.Value))
		}
	}
}

// unread warns about variables whose names are probably misspelled. Such a variable is set in the
// document, but neither declared nor read. The document declares another variable with a similar
// name.
func (c checker) unread() {
	var declared []string
	known := map[string]bool{}
	for _, v := range c.d.Memory.Session {
		declared, known[v.Value] = append(declared, v.Value), true
	}
	if len(c.d.Flow.Steps) == 0 || len(declared) == 0 || len(declared) > maxSetNames {
		return
	}
	read := func(x *Expr) {
		for _, ref := range x.References() {
			known[ref.Path[0]] = true
		}
	}
	visitor{expr: read, template: func(t *Template) { eachExpr(t.parts, read) }}.document(c.d)
	count := 0
	visitor{write: func(name Name) {
		first := firstName(name.Value)
		if known[first] || isFactPath(name.Value) || count >= maxComparedNames {
			return
		}
		known[first] = true
		count++
		if best := similar(first, declared); best != "" {
			c.r.warnf(name.Position, problem.SuspiciousRule, "did you mean "+best+"?", "nothing reads %s", first)
		}
	}}.document(c.d)
}

// eachExpr calls the function "visit" for each expression of a template. The expressions in nested
// blocks are included.
func eachExpr(parts []part, visit func(*Expr)) {
	for _, p := range parts {
		if p.expr != nil {
			visit(p.expr)
		}
		eachExpr(p.body, visit)
		eachExpr(p.other, visit)
	}
}

// references returns the names that the expressions and the templates of the document read.
func (c checker) references() []Reference {
	var refs []Reference
	visitor{
		expr:     func(x *Expr) { refs = append(refs, x.References()...) },
		template: func(t *Template) { refs = append(refs, t.References()...) },
	}.document(c.d)
	return refs
}

// addCollected adds the names of the fields that constraints collect to the known names. It adds
// only names that the argument "refs" contains. A field that no expression reads may be misspelled.
func (c checker) addCollected(known map[string]bool, refs []Reference) {
	read := map[string]bool{}
	for _, ref := range refs {
		read[ref.Path[0]] = true
	}
	for _, rule := range c.d.Constraints {
		for _, field := range rule.OnFail.Collect {
			if name := firstName(field.Value); read[name] {
				known[name] = true
			}
		}
	}
}

// triggerNames returns the names that the conditions of triggers read. If a returned name is never
// set, the method "triggers" reports it.
func (c checker) triggerNames() map[string]bool {
	found := map[string]bool{}
	for _, t := range c.d.Memory.Triggers {
		if t.When == nil {
			continue
		}
		for _, ref := range t.When.References() {
			found[ref.Path[0]] = true
		}
	}
	return found
}

// similar returns a name that resembles a misspelled name, or "". If one name is a prefix of
// another name, as in "price" and "price_total", neither name is considered misspelled. If two
// names have different first letters, as in "amount" and "count", neither name is considered
// misspelled.
func similar(name string, names []string) string {
	best := spell.Name(name, names)
	if best == "" || !strings.EqualFold(best[:1], name[:1]) {
		return ""
	}
	if diff := len(best) - len(name); diff > 2 || diff < -2 {
		return ""
	}
	return best
}

// setNames returns all names that are always defined. setNames also returns the names of the
// variables that the document declares or sets.
func (c checker) setNames() map[string]bool {
	known := map[string]bool{
		"call_error": true, "call_result": true, "input": true, "this": true,
		"user": true, "project": true, "workflow": true, "execution_tree": true, "session": true,
	}
	for _, v := range c.d.Memory.Session {
		known[v.Value] = true
	}
	set := func(name Name) { known[firstName(name.Value)] = true }
	visitor{write: set, item: set}.document(c.d)
	return known
}

// firstName returns the first name of a dotted path.
func firstName(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}
