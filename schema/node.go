package schema

import (
	"math/big"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// node is a compiled schema. It does not change after its document was imported.
type node struct {
	pointer  string         // its position in the document
	keyword  string         // the keyword that holds it, which is reported if the schema is false
	resource string         // the URL of the named schema that it belongs to
	raw      map[string]any // its text; nil for true and false

	trivial  bool // the schema true or, with never, false: no other field is set
	never    bool
	types    kinds
	values   []choice // enum and const
	format   func(any) bool
	declares bool // has the keyword properties

	text        textRules
	number      numberRules
	object      objectRules
	array       arrayRules
	applicators applicatorRules

	fallback any // the default, if defaults is set
	defaults bool

	alias     bool   // it consists only of a $ref
	anchor    string // its $dynamicAnchor
	recursive bool   // its $recursiveAnchor

	// within are all schemas that it may apply to the same value, those of applicators and the dependent
	// ones. rank is larger than the rank of each.
	within []*node
	rank   int
	// id is the number in the order of import, for a stable order.
	id int
}

// choice is an enum or a const: the identities of the allowed values, and their types.
type choice struct {
	keyword string
	kinds   kinds
	allowed map[string]bool
}

// unlimited stands for a count without a bound.
const unlimited = -1

type textRules struct {
	min, max int
	pattern  *pattern
}

type numberRules struct {
	min, above, max, below, multiple *big.Rat
}

type objectRules struct {
	min, max    int
	required    []string
	dependent   []dependency
	properties  map[string]*node
	listed      []string // their names, sorted
	patterns    []patternRule
	additional  *node
	names       *node
	unevaluated *node
}

// dependency is a requirement on objects that have a property: further names, or a schema that
// applies to it.
type dependency struct {
	keyword  string
	property string
	required []string
	schema   *node
}

type patternRule struct {
	pattern *pattern
	schema  *node
}

type arrayRules struct {
	min, max       int
	unique         bool
	prefix         []*node
	rest           *node
	contains       *node
	minFit, maxFit int
	fitEvaluates   bool // an element that fits contains counts as evaluated
	unevaluated    *node
}

// applicatorRules are the schemas that apply to the same value.
type applicatorRules struct {
	ref                 *node
	dynamic             []*dynamicRef
	allOf, anyOf, oneOf []*node
	anyOfDiscriminator  *discriminator // nil if no property distinguishes the branches
	oneOfDiscriminator  *discriminator
	not                 *node
	test, then, valueOr *node
}

// dynamicRef is a $dynamicRef or a $recursiveRef: it applies the schema with that anchor in the
// outermost resource in scope, or else its target.
type dynamicRef struct {
	target     *node
	anchor     string // the anchor of a $dynamicRef; "" for an ordinary reference
	recursive  bool   // it is a $recursiveRef
	byResource map[string]*node
}

// answers reports whether n may replace the target.
func (d *dynamicRef) answers(n *node) bool {
	if d.recursive {
		return d.target.recursive && n.recursive
	}
	return d.anchor != "" && d.target.anchor == d.anchor && n.anchor == d.anchor
}

// options returns every schema that the reference may apply in documents that start in the resource
// root.
func (d *dynamicRef) options(root string) []*node {
	if n, ok := d.byResource[root]; ok {
		return []*node{n} // no other resource can be further out
	}
	all := []*node{d.target}
	for _, resource := range sortedKeys(d.byResource) {
		if n := d.byResource[resource]; n != d.target {
			all = append(all, n)
		}
	}
	return all
}

// limit returns the value of a keyword as JSON for display, or nil if it is long.
func (n *node) limit(keyword string) []byte {
	if n.never {
		return []byte("false")
	}
	value, ok := n.raw[keyword]
	if !ok {
		return nil
	}
	text, err := strictjson.Encode(value)
	if err != nil || len(text) > maxLimitBytes {
		return nil
	}
	return text
}

// maxLimitBytes bounds the value of a keyword in a violation.
const maxLimitBytes = 200

// looksInside reports whether the rules apply schemas to the members of an object.
func (r *objectRules) looksInside() bool {
	return len(r.properties) > 0 || len(r.patterns) > 0 || r.additional != nil || r.names != nil
}
