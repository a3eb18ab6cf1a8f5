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

// Options configures the compilation of a schema. The zero value compiles a schema that is not
// strict, with the default limits.
type Options struct {
	// Strict closes every object whose schema has the keyword properties and does not explicitly
	// allow other names. The package documentation describes the details of strict schemas. The
	// default is false.
	Strict bool
	// Limits are the limits on the schema and on the validation of a document.
	Limits Limits
}

// Limits bounds the size of a schema and the cost of a validation. A field that is zero has its
// default value. A limit cannot be removed.
type Limits struct {
	// SchemaBytes is the maximum size of the text of the schema. The default is 256 KiB.
	SchemaBytes int
	// Depth is the maximum nesting depth of arrays and objects in a document. The default is 64.
	Depth int
	// Work is the maximum number of steps of one call to Validate. A step is about one check of one
	// value against one schema, and takes 10 to 200 ns. The default is 5,000,000.
	Work int
	// Violations is the maximum number of violations that one call to Validate returns. The default
	// is 100.
	Violations int
}

// The default values of the fields of Limits.
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

// Schema is a compiled schema. Schema is safe for concurrent use.
type Schema struct {
	root     *node
	limits   Limits
	strict   bool
	tracks   bool // true if evaluated members or elements must be tracked
	dynamic  bool // true if there are references that depend on the dynamic scope
	defaults bool // there are defaults
	mistakes Errors
	names    map[string]bool // the names that occur in properties and required
}

// Compile compiles the JSON text of a schema. The error is an [Errors], which contains all mistakes
// with their positions. Compile takes bounded time for every text. Compile rejects a schema if the
// cost of its validation is not bounded.
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
		return nil, oneError("", "the schema exceeds its size limit", "")
	}
	root, err := strictjson.Decode(text, strictjson.Limits{Depth: maxSchemaDepth, Keys: maxSchemaKeys})
	if err != nil {
		return nil, oneError("", "the schema is not valid JSON: "+err.Error(), "")
	}
	d, errs := draftOf(root)
	if errs != nil {
		return nil, errs
	}
	scan := scanSchema(root, d)
	if errs := append(scan.errs, misspelled(root, d)...); len(errs) > 0 {
		return nil, errs.tidy()
	}
	top, all, errs := importSchema(scan)
	if errs != nil {
		return nil, errs
	}
	if err := checkCost(top, all, limits.Depth); err != nil {
		return nil, Errors{err}
	}
	s = &Schema{root: top, limits: limits, strict: opts.Strict, tracks: opts.Strict, names: map[string]bool{}}
	for _, n := range all {
		for _, name := range slices.Concat(n.object.listed, n.object.required) {
			s.names[name] = true
		}
		s.tracks = s.tracks || n.object.unevaluated != nil || n.array.unevaluated != nil
		s.dynamic = s.dynamic || len(n.applicators.dynamic) > 0
	}
	if errs := s.checkDefaults(all); len(errs) > 0 {
		return nil, errs
	}
	s.mistakes = slices.Concat(s.mistakes, scan.mistakes, s.impossible()).tidy()
	s.mistakes = s.mistakes[:min(len(s.mistakes), maxMistakes)]
	return s, nil
}

// Within returns a copy of s with a different limit on the steps of Validate. The new limit also
// applies to Defaults, which can therefore omit members.
func (s *Schema) Within(work int) *Schema {
	bounded := *s
	bounded.limits.Work = work
	return &bounded
}

// Validate returns all violations in doc, sorted by pointer, or nil if doc matches the schema.
// Violations contain positions and requirements of the schema, but never content of the document.
// Validate takes bounded time for every document. If the document requires too many steps, the
// keyword of the violation is [MaxWork]. If the document is nested too deeply, the keyword is
// [MaxDepth]. If the document contains an oversized number, the keyword is [MaxNumber].
//
// The pointer of a missing member is the position at which the member is required. If doc matches
// no branch of an anyOf or oneOf, the violations include the keyword anyOf or oneOf, and the
// violations of the nearest branch. doc must be a value that strictjson.Decode returned. Validate
// does not modify doc.
func (s *Schema) Validate(doc any) []abi.Violation { return s.check(s.root, doc) }

// Public returns the pointer of a violation with * in place of each undeclared name and each index.
// The result of Public therefore contains only names from the schema.
func (s *Schema) Public(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts[1:] {
		if !s.names[unescaper.Replace(part)] {
			parts[i+1] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// check validates doc against one of the nodes of the schema.
func (s *Schema) check(n *node, doc any) (found []abi.Violation) {
	root := &location{}
	if refused := s.checkLimits(doc, root, 0); refused != nil {
		return []abi.Violation{*refused}
	}
	return s.evaluate(n, doc, root)
}

// metas contains the metaschemas. Each metaschema is compiled at its first use.
var metas = func() map[*draft]func() *Schema {
	all := make(map[*draft]func() *Schema, len(drafts))
	for _, d := range drafts {
		all[d] = sync.OnceValue(func() *Schema { return compileMeta(d) })
	}
	return all
}()

// misspelled checks a schema against the metaschema of its draft.
func misspelled(root any, d *draft) Errors {
	var errs Errors
	found := metas[d]().Validate(root)
	for i, v := range found {
		if i+1 < len(found) && found[i+1].Pointer == v.Pointer {
			continue // the violations of the nearest branch are more specific
		}
		errs = append(errs, &Error{Pointer: v.Pointer, Message: misspelling(v), Hint: misspelledType(root, v)})
	}
	return errs
}

// misspelling returns the mistake for a violation of the metaschema.
func misspelling(v abi.Violation) string {
	what := "the schema"
	if at := strings.LastIndexByte(v.Pointer, '/'); at >= 0 {
		what = strconv.Quote(v.Pointer[at+1:])
	}
	switch {
	case len(v.Limit) == 0:
		return what + " is not a valid value"
	case v.Keyword == "enum":
		return fmt.Sprintf("%s must be one of %s", what, v.Limit)
	case v.Keyword == "type":
		return fmt.Sprintf("%s must be a value of type %s", what, v.Limit)
	}
	return fmt.Sprintf("%s is not a valid value: %s must be %s", what, v.Keyword, v.Limit)
}

// importSchema compiles a scanned schema. If the library rejects the schema or panics, importSchema
// returns a mistake.
func importSchema(scan *scanner) (root *node, all []*node, errs Errors) {
	defer func() {
		if recover() != nil {
			root, all, errs = nil, nil, oneError("", "cannot compile the schema", "look for a keyword with a value of the wrong type")
		}
	}()
	root, all, err := compileDocument(scan)
	if err != nil {
		return nil, nil, oneError("", libraryText(err), "")
	}
	return root, all, nil
}
