package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Options say how a schema is compiled. The zero value is a schema that is not strict, within the default
// limits.
type Options struct {
	// Strict closes every object whose schema lists properties and says nothing about other names; see the
	// package documentation. Default false.
	Strict bool
	// Limits bound the schema and what checking a document may take.
	Limits Limits
}

// Limits bound a schema. A zero field means the default that its comment names, never "no limit".
type Limits struct {
	// SchemaBytes bounds the text of the schema. Default 256 KiB.
	SchemaBytes int
	// Depth bounds nested arrays and objects in documents. Default 64.
	Depth int
	// Work bounds the steps of one Validate; a step is about one schema applied to one value, and takes some
	// 10 to 200 ns. Default 5,000,000.
	Work int
	// Violations bounds the violations that one Validate returns. Default 100.
	Violations int
}

// The defaults of Limits.
const (
	DefaultSchemaBytes = 256 << 10
	DefaultDepth       = 64
	DefaultWork        = 5_000_000
	DefaultViolations  = 100
)

func (l Limits) withDefaults() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.SchemaBytes, DefaultSchemaBytes)
	set(&l.Depth, DefaultDepth)
	set(&l.Work, DefaultWork)
	set(&l.Violations, DefaultViolations)
	return l
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root     *node
	limits   Limits
	strict   bool
	tracks   bool // someone asks which members or elements were evaluated
	dynamic  bool // there are references that depend on the way to them
	defaults bool // there are defaults
	mistakes Errors
	names    map[string]bool // names that properties and required have
}

// Compile compiles the JSON text of a schema. The error is an [Errors]: every mistake, with its place. It
// takes bounded time for any text: a schema whose worst document is not bounded is refused.
func Compile(text []byte, opts Options) (*Schema, error) {
	s, errs := compileText(text, opts)
	if len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

func compileText(text []byte, opts Options) (s *Schema, errs Errors) {
	limits := opts.Limits.withDefaults()
	if len(text) > limits.SchemaBytes {
		return nil, oneError("", "the schema is larger than it may be", "")
	}
	root, err := strictjson.Decode(text, strictjson.Limits{Depth: maxSchemaDepth, Keys: maxSchemaKeys})
	if err != nil {
		return nil, oneError("", "the schema is no JSON that is taken: "+err.Error(), "")
	}
	d, errs := draftOf(root)
	if errs != nil {
		return nil, errs
	}
	survey := surveyOf(root, d)
	if errs := append(survey.errs, misspelled(root, d)...); len(errs) > 0 {
		return nil, errs.tidy()
	}
	top, all, errs := importSchema(survey)
	if errs != nil {
		return nil, errs
	}
	if err := checkBounds(top, all, limits.Depth); err != nil {
		return nil, Errors{err}
	}
	s = &Schema{root: top, limits: limits, strict: opts.Strict, tracks: opts.Strict, names: map[string]bool{}}
	for _, n := range all {
		for _, name := range slices.Concat(n.object.listed, n.object.required) {
			s.names[name] = true
		}
		s.tracks = s.tracks || n.object.unevaluated != nil || n.array.unevaluated != nil
		s.dynamic = s.dynamic || len(n.inner.dynamic) > 0
	}
	if errs := s.checkDefaults(all); len(errs) > 0 {
		return nil, errs
	}
	s.mistakes = slices.Concat(s.mistakes, survey.mistakes, s.impossible()).tidy()
	s.mistakes = s.mistakes[:min(len(s.mistakes), maxMistakes)]
	return s, nil
}

// Within returns the schema with another bound on the steps of a Validate, for callers that can do without an
// answer which takes longer. It shares everything else with s. Its Defaults may leave members out.
func (s *Schema) Within(work int) *Schema {
	bounded := *s
	bounded.limits.Work = work
	return &bounded
}

// Validate returns every place where doc does not fit, in the order of their pointers, or nil where it fits.
// What it returns tells what the schema asks and where, never what the document holds. It takes bounded time
// for any document: one that takes too much is refused with the keyword [MaxWork], one that is too deep or
// has a monstrous number with [MaxDepth] or [MaxNumber].
//
// A member that is missing has the pointer that it would have. Where no branch of an anyOf or oneOf fits,
// that keyword is a violation, and so is what the nearest branch found. doc is what strictjson.Decode returns
// and is not changed.
func (s *Schema) Validate(doc any) []abi.Violation { return s.check(s.root, doc) }

// Public returns the pointer of a violation with * for each name that the schema does not declare, and for each index:
// what is left is of the schema, and nothing of the document.
func (s *Schema) Public(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts[1:] {
		if !s.names[unescaper.Replace(part)] {
			parts[i+1] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// check validates doc against one of the schema's nodes.
func (s *Schema) check(n *node, doc any) (found []abi.Violation) {
	root := &place{}
	if refused := s.admit(doc, root, 0); refused != nil {
		return []abi.Violation{*refused}
	}
	return s.evaluate(n, doc, root)
}

// metas are the schemas of schemas, each compiled when first needed.
var metas = func() map[*draft]func() *Schema {
	all := make(map[*draft]func() *Schema, len(drafts))
	for _, d := range drafts {
		all[d] = sync.OnceValue(func() *Schema { return compileMeta(d) })
	}
	return all
}()

// misspelled checks a schema against the schema of its draft.
func misspelled(root any, d *draft) Errors {
	var errs Errors
	found := metas[d]().Validate(root)
	for i, v := range found {
		if i+1 < len(found) && found[i+1].Pointer == v.Pointer {
			continue // an anyOf, whose nearest branch follows and says more
		}
		errs = append(errs, &Error{Pointer: v.Pointer, Message: misspelling(v), Hint: misspelledType(root, v)})
	}
	return errs
}

// misspelling says what a schema's own schema asks at a place.
func misspelling(v abi.Violation) string {
	what := "the schema"
	if at := strings.LastIndexByte(v.Pointer, '/'); at >= 0 {
		what = strconv.Quote(v.Pointer[at+1:])
	}
	switch {
	case len(v.Limit) == 0:
		return what + " is not valid here"
	case v.Keyword == "enum":
		return fmt.Sprintf("%s takes one of %s", what, v.Limit)
	case v.Keyword == "type":
		return fmt.Sprintf("%s takes a value of type %s", what, v.Limit)
	}
	return fmt.Sprintf("%s is not valid here, where %s is to be %s", what, v.Keyword, v.Limit)
}

// importSchema compiles what was surveyed. What the library does not take, and what it trips over, is a
// mistake of the schema.
func importSchema(survey *survey) (root *node, all []*node, errs Errors) {
	defer func() {
		if recover() != nil {
			root, all, errs = nil, nil, oneError("", "the schema cannot be compiled", "look for a keyword with a value of the wrong type")
		}
	}()
	root, all, err := compileDocument(survey)
	if err != nil {
		return nil, nil, oneError("", libraryText(err), "")
	}
	return root, all, nil
}
