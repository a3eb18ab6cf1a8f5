package template

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// DefaultMaxBytes bounds what Render returns, unless WithMaxBytes said otherwise.
const DefaultMaxBytes = 1 << 20

// Template is a parsed template. It is never changed and safe for concurrent use.
type Template struct {
	nodes    []node
	maxBytes int
}

// node is a piece of a template: literal text, or an expression of one of the namespaces.
type node interface {
	render(r *renderer) error
}

// WithMaxBytes returns a copy of t that renders at most n bytes; 0 or less means DefaultMaxBytes.
func (t *Template) WithMaxBytes(n int) *Template {
	if n <= 0 {
		n = DefaultMaxBytes
	}
	return &Template{nodes: t.nodes, maxBytes: n}
}

// Render returns the text with every expression replaced by its value. It asks get for a store's content at
// most once, in the order in which the template first uses the stores; nil and null stand for a store that
// holds nothing. Render returns an error of get as it is. A result of too many bytes is an *abi.Fault with
// the code output_limit.
func (t *Template) Render(get func(store string) (json.RawMessage, error)) (string, error) {
	text, _, err := t.RenderNoting(get)
	return text, err
}

// RenderNoting is Render that also returns the expressions that rendered as nothing, for what they name is not stored or
// null: each once, in the order of the template, as in "memory.prefs.language".
func (t *Template) RenderNoting(get func(store string) (json.RawMessage, error)) (text string, missing []string, err error) {
	r := renderer{get: get, contents: map[string]any{}, maxBytes: t.maxBytes, missed: map[string]bool{}}
	for _, n := range t.nodes {
		if err := n.render(&r); err != nil {
			return "", nil, err
		}
	}
	return r.out.String(), r.missing, nil
}

// renderer is the state of one Render.
type renderer struct {
	out      strings.Builder
	maxBytes int
	get      func(store string) (json.RawMessage, error)
	contents map[string]any // by store, as far as they were read
	missing  []string       // expressions that rendered as nothing
	missed   map[string]bool
}

// miss notes an expression that renders as nothing.
func (r *renderer) miss(expression string) {
	if !r.missed[expression] {
		r.missed[expression] = true
		r.missing = append(r.missing, expression)
	}
}

func (r *renderer) write(text string) error {
	if len(text) > r.maxBytes-r.out.Len() {
		return abi.Faultf(abi.OutputLimit, "the rendered template is larger than %d bytes", r.maxBytes).
			WithHint("name a path into a store rather than its whole content")
	}
	r.out.WriteString(text)
	return nil
}

// content returns the content of a store, nil where it holds nothing.
func (r *renderer) content(store string) (any, error) {
	if content, known := r.contents[store]; known {
		return content, nil
	}
	text, err := r.get(store)
	if err != nil {
		return nil, err
	}
	var content any
	if len(text) > 0 {
		if content, err = strictjson.Decode(text, strictjson.Limits{}); err != nil {
			return nil, fmt.Errorf("read the content of store %q: %w", store, err)
		}
	}
	r.contents[store] = content
	return content, nil
}

// literal is text that stands for itself.
type literal string

func (l literal) render(r *renderer) error { return r.write(string(l)) }
