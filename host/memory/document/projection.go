package document

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// A projection is a tree that selects fields. Each projection is a node of such a tree. The
// notation is the same as for projections in MongoDB. For example, `{"a.b": 1}` includes a field,
// and `{"a": 0}` excludes a field. `{"a": {"b": 1}}` means the same as `{"a.b": 1}`. Paths apply to
// each element of an array. If a projection includes some fields and excludes other fields, it
// selects only the included fields, without the excluded fields inside of them.
//
// In a path, `\.` represents a dot within a name, and `\\` represents a backslash. The members of a
// selected object are sorted by name.
type projection struct {
	include  bool
	exclude  bool
	children map[string]*projection
	// includes is true if the projection includes this field or a field below it.
	includes bool
}

// maxProjectionPath is the maximum number of names in a path of a projection. By default, contents
// have the same limit for their nesting.
const maxProjectionPath = 32

// maxProjectionBytes is the maximum size of a projection as encoded JSON.
const maxProjectionBytes = 64 << 10

// parseProjection decodes a projection. A nil projection selects the whole content.
func parseProjection(text json.RawMessage) (*projection, error) {
	if kind.IsAbsent(text) {
		return nil, nil
	}
	if len(text) > maxProjectionBytes {
		return nil, abi.Faultf(abi.TooLarge, "the projection exceeds %s", bytesize.Format(maxProjectionBytes))
	}
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: maxProjectionPath, Keys: 1000})
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the projection is not valid JSON: %v", err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, badProjection("")
	}
	if len(fields) == 0 {
		return nil, nil
	}
	root := &projection{}
	if err := root.add(fields, nil); err != nil {
		return nil, err
	}
	root.markIncludes()
	return root, nil
}

func badProjection(path string) error {
	where := "the projection"
	if path != "" {
		where = "the projection's field " + kind.Quote(path)
	}
	return abi.Faultf(abi.InvalidArgument, "%s must be 1 or true to include, 0 or false to exclude, or an object of fields", where).
		WithHint(`use a projection such as {"preferences.language": 1}`)
}

// add merges fields into p. The fields belong to one level of a projection. The argument "path" is
// the path of p.
func (p *projection) add(fields map[string]any, path []string) error {
	for name, value := range fields {
		steps := append(path[:len(path):len(path)], splitPath(name)...)
		full := strings.Join(steps, ".")
		if len(steps) > maxProjectionPath {
			return abi.Faultf(abi.InvalidArgument, "a path in the projection has more than %d steps", maxProjectionPath)
		}
		node := p
		for _, step := range steps[len(path):] {
			if step == "" {
				return abi.Faultf(abi.InvalidArgument, "the projection's field %s has an empty step", kind.Quote(full))
			}
			if slices.Contains(projectionOperators, step) {
				return abi.Faultf(abi.InvalidArgument, "the projection's field %s: the operator %s is not supported", kind.Quote(full), step).
					WithHint("select only fields; shorten lists in the tool")
			}
			node = node.child(step)
		}
		if err := node.set(value, steps, full); err != nil {
			return err
		}
	}
	return nil
}

// projectionOperators lists operators of MongoDB. If a projection contains such an operator, it is
// rejected. Without this check, the operator would be used as the name of a field that does not
// exist.
var projectionOperators = []string{"$", "$slice", "$elemMatch", "$meta"}

// splitPath splits a path into names.
func splitPath(path string) []string {
	if !strings.Contains(path, `\`) {
		return strings.Split(path, ".")
	}
	var steps []string
	var step strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '\\'):
			i++
			step.WriteByte(path[i])
		case path[i] == '.':
			steps = append(steps, step.String())
			step.Reset()
		default:
			step.WriteByte(path[i])
		}
	}
	return append(steps, step.String())
}

func (p *projection) child(step string) *projection {
	if p.children == nil {
		p.children = map[string]*projection{}
	}
	if p.children[step] == nil {
		p.children[step] = &projection{}
	}
	return p.children[step]
}

// set sets the node to a value. The value is a flag or an object of nested fields.
func (p *projection) set(value any, steps []string, full string) error {
	switch v := value.(type) {
	case bool:
		p.include, p.exclude = p.include || v, p.exclude || !v
	case json.Number:
		n, err := v.Float64()
		wanted := err == nil && n != 0
		p.include, p.exclude = p.include || wanted, p.exclude || !wanted
	case map[string]any:
		if len(v) == 0 {
			return badProjection(full)
		}
		return p.add(v, steps)
	default:
		return badProjection(full)
	}
	return nil
}

// markIncludes sets the field "includes" of all nodes. markIncludes processes the leaves first.
func (p *projection) markIncludes() bool {
	p.includes = p.include
	for _, child := range p.children {
		p.includes = child.markIncludes() || p.includes
	}
	return p.includes
}

// apply returns the selected part of a content. If nothing is selected, it returns false. apply
// does not modify the content. The selected part can share memory with the content.
func (p *projection) apply(content any) (any, bool) {
	if p == nil {
		return content, true
	}
	if p.includes {
		return p.pick(content)
	}
	return p.without(content), true
}

// pick returns the part of a value that p includes.
func (p *projection) pick(value any) (any, bool) {
	if p.include {
		return p.without(value), true
	}
	switch v := value.(type) {
	case map[string]any:
		picked := map[string]any{}
		for name, child := range p.children {
			if field, ok := v[name]; ok && child.includes {
				if part, ok := child.pick(field); ok {
					picked[name] = part
				}
			}
		}
		return picked, true
	case []any:
		picked := []any{}
		for _, element := range v {
			if part, ok := p.pick(element); ok {
				picked = append(picked, part)
			}
		}
		return picked, true
	}
	return nil, false
}

// without returns a copy of a value. The copy lacks the nested fields that p excludes.
func (p *projection) without(value any) any {
	if len(p.children) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, field := range v {
			child := p.children[name]
			if child == nil {
				kept[name] = field
				continue
			}
			if part, ok := child.keep(field); ok {
				kept[name] = part
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, element := range v {
			kept[i] = p.without(element)
		}
		return kept
	}
	return value
}

// keep applies the projection to a field inside of an included field. The argument of the method is
// the value of the inner field. The second result is false if the field is excluded.
func (p *projection) keep(field any) (any, bool) {
	switch {
	case !p.exclude || p.include:
		return p.without(field), true
	case p.includes:
		return p.pick(field)
	}
	return nil, false
}
