package schema

import (
	"math/big"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// node is a compiled schema. node is immutable after the import of its document.
type node struct {
	pointer  string         // the JSON Pointer of the schema in the document
	keyword  string         // the keyword that contains the schema
	resource string         // the URL of the enclosing named schema
	raw      map[string]any // the schema as decoded JSON; nil for true and false

	trivial  bool // the schema is true, or it is false if never is also set; no other field is set
	never    bool
	types    kinds
	values   []choice // enum and const
	format   func(any) bool
	declares bool // the schema contains the keyword properties

	text        textRules
	number      numberRules
	object      objectRules
	array       arrayRules
	applicators applicatorRules

	fallback any // the default of the schema, if defaults is set
	defaults bool

	alias     bool   // the schema consists only of a $ref
	anchor    string // its $dynamicAnchor
	recursive bool   // its $recursiveAnchor

	// within contains all schemas that the schema can apply to the same value: the schemas in
	// applicators and the dependent schemas. The rank of a schema is larger than the rank of each
	// schema in its field "within".
	within []*node
	rank   int
	// id is a sequence number, which makes the order of nodes deterministic.
	id int
}

// choice is an enum or a const. choice contains the identities and the types of the allowed values.
type choice struct {
	keyword string
	kinds   kinds
	allowed map[string]bool
}

// unlimited is the value of a maximum that the schema does not set.
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

// dependency is a requirement on objects that have a certain property: other required names, or a
// schema for the object.
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
	fitEvaluates   bool // an element that matches the schema in contains counts as evaluated
	unevaluated    *node
}

// applicatorRules contains the subschemas that apply to the same value as the schema.
type applicatorRules struct {
	ref                 *node
	dynamic             []*dynamicRef
	allOf, anyOf, oneOf []*node
	anyOfDiscriminator  *discriminator // the discriminator is nil if no property distinguishes the branches
	oneOfDiscriminator  *discriminator
	not                 *node
	test, then, valueOr *node
}

// dynamicRef is a $dynamicRef or a $recursiveRef. dynamicRef refers to the schema with the given
// anchor in the outermost resource in scope. If no resource in scope has such a schema, dynamicRef
// refers to target.
type dynamicRef struct {
	target     *node
	anchor     string // the anchor of a $dynamicRef, or "" for an ordinary reference
	recursive  bool   // the reference is a $recursiveRef
	byResource map[string]*node
}

// answers reports whether the reference can resolve to n instead of its target.
func (d *dynamicRef) answers(n *node) bool {
	if d.recursive {
		return d.target.recursive && n.recursive
	}
	return d.anchor != "" && d.target.anchor == d.anchor && n.anchor == d.anchor
}

// options returns every schema to which the reference can resolve if validation starts in the
// resource with the given root.
func (d *dynamicRef) options(root string) []*node {
	if n, ok := d.byResource[root]; ok {
		return []*node{n} // the root is the outermost resource in scope
	}
	all := []*node{d.target}
	for _, resource := range sortedKeys(d.byResource) {
		if n := d.byResource[resource]; n != d.target {
			all = append(all, n)
		}
	}
	return all
}

// limit returns the value of a keyword as JSON for messages, or nil if the value is too long.
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

// maxLimitBytes is the maximum size of a keyword's value in a violation.
const maxLimitBytes = 200

// looksInside reports whether the rules contain subschemas for the members of an object.
func (r *objectRules) looksInside() bool {
	return len(r.properties) > 0 || len(r.patterns) > 0 || r.additional != nil || r.names != nil
}
