package abl

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

var sourceAs = lazyregexp.New(`^(.*\S)\s+(?i:AS)\s+(\S+)$`)

func readTransform(r *reader, e *entry) *Transform {
	t := &Transform{Position: e.at()}
	r.read(e, "TRANSFORM", properties{
		"SOURCE":  func(e *entry) { readSource(r, e, t) },
		"AS":      func(e *entry) { t.As = r.pathOf(r.text(e), "a variable") },
		"INTO":    func(e *entry) { t.Into = r.pathOf(r.text(e), "a variable") },
		"FILTER":  func(e *entry) { t.Filter = r.condition(e) },
		"MAP":     func(e *entry) { t.Map = readMapping(r, e) },
		"SORT_BY": func(e *entry) { readSortBy(r, e, t) },
		"LIMIT":   func(e *entry) { t.Limit = r.expression(e) },
	})
	switch {
	case r.hasProblemAt(e.at()):
	case t.Source == nil:
		r.errorf(e.at(), problem.MissingKey, "write `SOURCE: array AS item`", "TRANSFORM has no SOURCE")
	case t.As.Value == "":
		r.errorf(t.Source.Position(), problem.MissingKey, "write `SOURCE: array AS item`", "SOURCE has no name for its items")
	case t.Into.Value == "":
		r.errorf(e.at(), problem.MissingKey, "write INTO: name", "TRANSFORM has no INTO")
	}
	return t
}

// readSource reads the source of TRANSFORM, which has the form ARRAY AS NAME.
func readSource(r *reader, e *entry, t *Transform) {
	text := e.value
	if m := sourceAs().FindStringSubmatchIndex(text.Value); m != nil {
		t.As = r.pathOf(Text{Position: text.at(m[4]), Value: text.Value[m[4]:m[5]]}, "a variable")
		text.Value = text.Value[:m[3]]
	}
	r.leaf(e)
	t.Source = r.expressionOf(text)
}

// readMapping reads the fields of mapped items.
func readMapping(r *reader, e *entry) []Assignment {
	var fields []Assignment
	seen := map[string]bool{}
	for _, child := range r.limited(e.children, "MAP") {
		if child.key == "" || child.dash {
			r.errorf(child.at(), problem.Syntax, "write name: item.field", "the line %s is not a field", problem.Quote(child.source()))
			continue
		}
		if seen[child.key] {
			r.errorf(child.at(), problem.DuplicateName, "remove one of the two fields", "the field %s occurs twice", child.key)
		}
		seen[child.key] = true
		fields = append(fields, Assignment{Target: Name{child.at(), child.key}, Value: r.expression(child)})
	}
	if len(fields) == 0 {
		r.errorf(e.at(), problem.MissingKey, "write `name: item.field` on an indented line below", "MAP has no fields")
	}
	return fields
}

// readSortBy reads the name of a field. The word "asc" or "desc" can follow the name.
func readSortBy(r *reader, e *entry, t *Transform) {
	text := r.text(e)
	fields := strings.Fields(text.Value)
	if len(fields) == 0 {
		return
	}
	t.SortBy = r.pathOf(Text{Position: text.Position, Value: fields[0]}, "a field")
	switch {
	case len(fields) == 1 || len(fields) == 2 && strings.EqualFold(fields[1], "asc"):
	case len(fields) == 2 && strings.EqualFold(fields[1], "desc"):
		t.Descending = true
	default:
		r.errorf(text.Position, problem.BadValue, "write `field asc` or `field desc`", "the text %s is not a sort order", problem.Quote(text.Value))
	}
}
