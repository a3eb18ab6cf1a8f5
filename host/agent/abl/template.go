package abl

import "strings"

// Template is a parsed text. The text can contain expressions in double braces. Template is safe
// for concurrent use.
type Template struct {
	text  Text
	parts []part
	// trimEnd is true if the last line of the text contains only a tag. In this case, the line
	// break before the last line is not rendered.
	trimEnd bool
}

// part is a piece of a template: literal text, an expression or a block.
type part struct {
	literal string
	expr    *Expr
	block   string // "", "each" or "if"
	body    []part
	other   []part // after {{else}}
}

// ParseTemplate parses a template. The error is a Problem. Its position is relative to the text.
func ParseTemplate(text string) (*Template, error) {
	t, problem := parseTemplate(Text{Position: Position{Line: 1, Column: 1}, Value: text})
	if problem != nil {
		return nil, *problem
	}
	return t, nil
}

// String returns the source of the template.
func (t *Template) String() string { return t.text.Value }

// Position returns the position of the template in its file.
func (t *Template) Position() Position { return t.text.Position }

// References returns the names that the template reads. Their order is the order in the source. The
// names inside of "{{#each}}" can be fields of an item, so the result does not contain them.
func (t *Template) References() []Reference {
	var found []Reference
	var visit func(parts []part)
	visit = func(parts []part) {
		for _, p := range parts {
			if p.expr != nil {
				found = append(found, p.expr.References()...)
			}
			if p.block != "each" {
				visit(p.body)
			}
			visit(p.other)
		}
	}
	visit(t.parts)
	return found
}

// Render renders the template. If a value is not set, it is rendered as "". An array or an object
// is rendered as JSON. Render returns the same errors as Expr.Eval.
func (t *Template) Render(scope Scope, o Options) (string, []Warning, error) {
	r := renderer{ev: newEvaluator(scope, o)}
	if r.conditions = r.ev.scope; o.Shown != nil {
		r.ev.scope = o.Shown
	}
	if err := r.parts(t.parts); err != nil {
		return "", r.ev.warnings, err
	}
	s := r.out.String()
	if t.trimEnd {
		s = strings.TrimSuffix(s, "\n")
	}
	return s, r.ev.warnings, nil
}

type renderer struct {
	ev *evaluator
	// conditions is the scope in which the conditions in "{{#if}}" are evaluated.
	conditions Scope
	out        strings.Builder
	chars      int
}

func (r *renderer) write(s string) error {
	if r.chars += chars(s); r.chars > MaxTextChars {
		return ErrTooLong
	}
	r.out.WriteString(s)
	return r.ev.charge(1 + len(s)/64)
}

func (r *renderer) parts(parts []part) error {
	for _, p := range parts {
		if err := r.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) part(p part) error {
	if p.expr == nil {
		return r.write(p.literal)
	}
	value, err := r.eval(p)
	if err != nil {
		return err
	}
	switch {
	case p.block == "each":
		return r.each(p, value)
	case p.block == "if" && IsTruthy(value):
		return r.parts(p.body)
	case p.block == "if":
		return r.parts(p.other)
	}
	s, err := r.ev.text(value)
	if err != nil {
		return err
	}
	return r.write(s)
}

// eval evaluates the expression of a part.
func (r *renderer) eval(p part) (any, error) {
	if p.block != "if" {
		return r.ev.eval(p.expr.root)
	}
	shown := r.ev.scope
	r.ev.scope = r.conditions
	defer func() { r.ev.scope = shown }()
	return r.ev.eval(p.expr.root)
}

// The method "each" renders a block for each item of an array. If the value is not an array, the
// parts after "{{else}}" are rendered instead.
func (r *renderer) each(p part, value any) error {
	items, _ := value.([]any)
	if len(items) == 0 {
		return r.parts(p.other)
	}
	outer, conditions := r.ev.scope, r.conditions
	defer func() { r.ev.scope, r.conditions = outer, conditions }()
	for i, item := range items {
		r.ev.scope = itemScope{outer: outer, item: item, index: i, last: i == len(items)-1}
		r.conditions = itemScope{outer: conditions, item: item, index: i, last: i == len(items)-1}
		if err := r.ev.charge(4); err != nil {
			return err
		}
		if err := r.parts(p.body); err != nil {
			return err
		}
	}
	return nil
}

// itemScope is the scope in which the content of "{{#each}}" is evaluated for an item. itemScope
// resolves "this", "@index", "@first" and "@last". It looks up any other name first in the fields
// of the item, and then in the outer scope.
type itemScope struct {
	outer Scope
	item  any
	index int
	last  bool
}

func (s itemScope) Lookup(path []string) (any, int, error) {
	switch path[0] {
	case "@index":
		return float64(s.index), 1, nil
	case "@first":
		return s.index == 0, 1, nil
	case "@last":
		return s.last, 1, nil
	case "this":
		return s.item, 1, nil
	}
	if m, ok := s.item.(map[string]any); ok {
		if value, ok := m[path[0]]; ok {
			return value, 1, nil
		}
	}
	return s.outer.Lookup(path)
}
