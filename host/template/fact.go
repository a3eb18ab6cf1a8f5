package template

import (
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// factRef is the expression <path of a fact>.<path into its value>.
type factRef struct {
	// names contains the steps that can belong to the path of the fact. names has at least two
	// elements. rest contains the steps after "names".
	names, rest  []string
	line, column int
}

// factName matches a name in the path of a fact, with the same rule as package declare.
var factName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// fact returns the expression of a fact. The argument "at" is the start of the expression in the
// text. The argument "dotted" is the number of steps at the start that were written after dots.
func (p *parser) fact(at int, steps []string, dotted int) (node, error) {
	n := 0
	for n < dotted && factName().MatchString(steps[n]) {
		n++
	}
	if n < 2 {
		return nil, p.errorf(at, hintForms, "the name %s is not available in templates", quote(steps[0]))
	}
	line, column := p.place(at)
	return factRef{names: steps[:n:n], rest: steps[n:], line: line, column: column}, nil
}

// split splits the expression into the path of the fact and the path into the fact's value.
func (f factRef) split(isFact func(path string) bool) (fact string, path []string) {
	for n := len(f.names); n >= 2 && isFact != nil; n-- {
		if fact := strings.Join(f.names[:n], "."); isFact(fact) {
			return fact, append(f.names[n:len(f.names):len(f.names)], f.rest...)
		}
	}
	return strings.Join(f.names, "."), f.rest
}

func (f factRef) render(r *renderer) error {
	fact, path := f.split(r.from.IsFact)
	value, err := r.fact(fact)
	if err != nil {
		return err
	}
	return r.writeValue(lookup(value, path), f.String)
}

// String returns the expression in the notation of templates.
func (f factRef) String() string { return strings.Join(f.names, ".") + pathText(f.rest) }
