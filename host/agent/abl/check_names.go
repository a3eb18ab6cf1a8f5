package abl

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// These constants limit the search for misspelled names, because the search compares each name with
// all names that are set.
const (
	maxComparedNames = 50
	maxSetNames      = 1000
)

// misspelled warns about names that are never set but resemble a name that is set. Other unknown
// names can be names that the host provides, or inputs of a tool.
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

// unread warns about variables that are probably misspelled. The document sets such a variable, but
// neither declares nor reads the variable, and the document declares a variable with a similar
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

// eachExpr calls visit for each expression of a template, including the expressions in nested
// blocks.
func eachExpr(parts []part, visit func(*Expr)) {
	for _, p := range parts {
		if p.expr != nil {
			visit(p.expr)
		}
		eachExpr(p.body, visit)
		eachExpr(p.other, visit)
	}
}

// references returns the names that the expressions and templates of the document read.
func (c checker) references() []Reference {
	var refs []Reference
	visitor{
		expr:     func(x *Expr) { refs = append(refs, x.References()...) },
		template: func(t *Template) { refs = append(refs, t.References()...) },
	}.document(c.d)
	return refs
}

// addCollected adds a name that a constraint collects, if the argument "refs" contains the name. A
// collected name that no expression reads can be misspelled.
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

// triggerNames returns the names that conditions of triggers read. The method "triggers" reports
// the returned names that are never set.
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

// similar returns the name that a misspelled name resembles, or "". If one of two names is a prefix
// of the other name, such as "price" and "price_total", neither name is misspelled. The same holds
// for two names with different first letters, such as "amount" and "count".
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

// setNames returns the names of variables that the document declares or sets, and the names that
// are always defined.
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
