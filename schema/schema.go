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

// Options configures the compilation of a schema. The zero value means a schema that is not strict,
// with the default limits.
type Options struct {
	// Strict closes every object whose schema lists properties and does not allow other names
	// explicitly; see the package documentation. Default false.
	Strict bool
	// Limits bounds the schema and the check of a document.
	Limits Limits
}

// Limits bounds a schema. A zero field means the default that its comment names, never "no limit".
type Limits struct {
	// SchemaBytes bounds the text of the schema. Default 256 KiB.
	SchemaBytes int
	// Depth bounds nested arrays and objects in documents. Default 64.
	Depth int
	// Work bounds the steps of one Validate. A step is roughly one schema applied to one value, and
	// takes 10 to 200 ns. Default 5,000,000.
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
	tracks   bool // evaluated members or elements must be tracked
	dynamic  bool // there are references that depend on the dynamic scope
	defaults bool // there are defaults
	mistakes Errors
	names    map[string]bool // the names in properties and required
}

// Compile compiles the JSON text of a schema. The error is an [Errors] with all mistakes and their
// positions. It takes bounded time for any text: a schema whose cost is not bounded is rejected.
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

// Within returns the schema with another bound on the steps of Validate. It shares everything else
// with s. Its Defaults may omit members.
func (s *Schema) Within(work int) *Schema {
	bounded := *s
	bounded.limits.Work = work
	return &bounded
}

// Validate returns all violations in doc, sorted by pointer, or nil if it fits. They contain
// positions and requirements of the schema, never content of the document. It takes bounded time
// for any document: one that takes too many steps is rejected with the keyword [MaxWork], and one
// that is too deep or has an oversized number with [MaxDepth] or [MaxNumber].
//
// A missing member is reported with the pointer that it would have. If no branch of an anyOf or
// oneOf fits, the violations include that keyword and those of the nearest branch. doc must be a
// value from strictjson.Decode and is not changed.
func (s *Schema) Validate(doc any) []abi.Violation { return s.check(s.root, doc) }

// Public returns the pointer of a violation with each undeclared name and each index replaced by *.
// The result contains only names of the schema, and nothing of the document.
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
	root := &location{}
	if refused := s.checkLimits(doc, root, 0); refused != nil {
		return []abi.Violation{*refused}
	}
	return s.evaluate(n, doc, root)
}

// metas are the metaschemas, each compiled at first use.
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
			continue // an anyOf, whose nearest branch follows and is more specific
		}
		errs = append(errs, &Error{Pointer: v.Pointer, Message: misspelling(v), Hint: misspelledType(root, v)})
	}
	return errs
}

// misspelling describes a violation of the metaschema.
func misspelling(v abi.Violation) string {
	what := "the schema"
	if at := strings.LastIndexByte(v.Pointer, '/'); at >= 0 {
		what = strconv.Quote(v.Pointer[at+1:])
	}
	switch {
	case len(v.Limit) == 0:
		return what + " is not valid here"
	case v.Keyword == "enum":
		return fmt.Sprintf("%s must be one of %s", what, v.Limit)
	case v.Keyword == "type":
		return fmt.Sprintf("%s must be a value of type %s", what, v.Limit)
	}
	return fmt.Sprintf("%s is not valid here: %s must be %s", what, v.Keyword, v.Limit)
}

// importSchema compiles a scanned schema. If the library rejects it or panics, that is a mistake
// of the schema.
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
