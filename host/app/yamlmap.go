package app

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/toolrun/toolrun/host/problem"
)

// mapping reads an object. If the object itself contains a key, a merged key ("<<") with the same
// name is ignored. The merged keys are added after the other keys.
func (r *yamlReader) mapping(at position, values []*ast.MappingValueNode) *node {
	v := &node{position: at, kind: object}
	var merged []*node
	for _, value := range values {
		if value.Key.IsMergeKey() {
			merged = append(merged, r.merged(value.Value)...)
			continue
		}
		key, ok := r.key(value.Key)
		if !ok {
			continue
		}
		m := member{position: positionOfToken(r.file, value.Key.GetToken()), key: key}
		m.value = (&node{position: m.position}).seal()
		if value.Value != nil {
			m.value = r.read(value.Value)
		}
		v.members = append(v.members, m)
	}
	if len(v.members) > 0 {
		v.position = v.members[0].position // the parser reports the first colon as the position
	}
	mergeInto(v, merged)
	return v.seal()
}

// key returns a key as a string. If the key is a number, a boolean or null, key returns the literal
// in the file.
func (r *yamlReader) key(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	case *ast.MappingKeyNode:
		if inner, ok := n.Value.(ast.MapKeyNode); ok && r.depth < maxNesting {
			r.depth++
			defer func() { r.depth-- }()
			return r.key(inner)
		}
	}
	r.refuse(n, problem.Syntax, "", "a key must be a plain string")
	return "", false
}

// merged returns the objects to which the value of a merge key refers. If the value refers to
// anything else, merged reports an error and returns nil.
func (r *yamlReader) merged(value ast.Node) []*node {
	if value == nil {
		return nil
	}
	v := r.read(value)
	from := []*node{v}
	if v.kind == list {
		from = v.items
	}
	for _, o := range from {
		if o.kind != object {
			r.refuse(value, problem.Syntax, "", "the key `<<` can merge only mappings, not %s", o.kind)
			return nil
		}
	}
	return from
}

func mergeInto(v *node, from []*node) {
	if len(from) == 0 {
		return
	}
	has := map[string]bool{}
	for _, m := range v.members {
		has[m.key] = true
	}
	for _, o := range from {
		for _, m := range o.members {
			if !has[m.key] {
				has[m.key] = true
				v.members = append(v.members, m)
			}
		}
	}
}
