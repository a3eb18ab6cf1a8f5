package template

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// DefaultMaxBytes is the default maximum size of the rendered text.
const DefaultMaxBytes = 1 << 20

// Template is a parsed template. Template is immutable and safe for concurrent use.
type Template struct {
	nodes    []node
	maxBytes int
}

// node is an element of a template: literal text or an expression.
type node interface {
	render(r *renderer) error
}

// WithMaxBytes returns a copy of the template that renders at most n bytes. If n is 0 or less, the
// maximum is DefaultMaxBytes.
func (t *Template) WithMaxBytes(n int) *Template {
	if n <= 0 {
		n = DefaultMaxBytes
	}
	return &Template{nodes: t.nodes, maxBytes: n}
}

// Render returns the text with every expression replaced by its value. To read the content of a
// store, Render calls the function get once, when the template first uses the store. If get returns
// nil or null, the store is empty. Render returns an error of get unchanged. If the result is too
// large, the error is an *abi.Fault with the code output_limit.
func (t *Template) Render(get func(store string) (json.RawMessage, error)) (string, error) {
	text, _, err := t.RenderFrom(Source{Store: get})
	return text, err
}

// Source provides the values of a template. If Store is nil, there are no stores. If Fact is nil,
// there are no facts.
type Source struct {
	// Store returns the content of the store with the given name, and Fact returns the value of the
	// fact with the given path. If a function returns nil or null, the path has no value. For each
	// store or fact, the function is called only once, when the template uses the store or fact for
	// the first time.
	Store, Fact func(name string) (json.RawMessage, error)
	// IsFact reports whether a fact with the given path is declared. The longest declared path at
	// the beginning of an expression is the fact, and the remaining steps are a path into the value
	// of the fact. If no declared path is found, all names of the expression together are the path
	// of the fact.
	IsFact func(path string) bool
}

// RenderFrom is like Render, but also reads facts. The second result lists the expressions whose
// value is null or does not exist, such as "memory.prefs.language". Each expression is listed once,
// in the order of the template.
func (t *Template) RenderFrom(from Source) (text string, missing []string, err error) {
	r := renderer{from: from, contents: map[string]any{}, facts: map[string]any{}, maxBytes: t.maxBytes, missed: map[string]bool{}}
	for _, n := range t.nodes {
		if err := n.render(&r); err != nil {
			return "", nil, err
		}
	}
	return r.out.String(), r.missing, nil
}

// renderer is the state of one call to Render.
type renderer struct {
	out      strings.Builder
	maxBytes int
	from     Source
	contents map[string]any // the stores that were read, by name
	facts    map[string]any // the facts that were read, by path
	missing  []string       // expressions that were rendered as ""
	missed   map[string]bool
}

// miss records an expression that was rendered as "".
func (r *renderer) miss(expression string) {
	if !r.missed[expression] {
		r.missed[expression] = true
		r.missing = append(r.missing, expression)
	}
}

func (r *renderer) write(text string) error {
	if len(text) > r.maxBytes-r.out.Len() {
		return abi.Faultf(abi.OutputLimit, "the rendered template exceeds %d bytes", r.maxBytes).
			WithHint("use a path into a store instead of the whole content of the store")
	}
	r.out.WriteString(text)
	return nil
}

// content returns the content of a store, or nil if the store is empty.
func (r *renderer) content(store string) (any, error) {
	return read(r.contents, r.from.Store, store, "the content of store")
}

// fact returns the value of a fact, or nil if the fact has no value.
func (r *renderer) fact(path string) (any, error) {
	return read(r.facts, r.from.Fact, path, "the value of fact")
}

// read calls the function "get" once for each name, and returns the decoded value. The argument
// "what" is the kind of the value in error messages.
func read(known map[string]any, get func(name string) (json.RawMessage, error), name, what string) (any, error) {
	if value, there := known[name]; there || get == nil {
		return value, nil
	}
	text, err := get(name)
	if err != nil {
		return nil, err
	}
	var value any
	if len(text) > 0 {
		if value, err = strictjson.Decode(text, strictjson.Limits{}); err != nil {
			return nil, fmt.Errorf("read %s %q: %w", what, name, err)
		}
	}
	known[name] = value
	return value, nil
}

// literal is a node that contains literal text.
type literal string

func (l literal) render(r *renderer) error { return r.write(string(l)) }
