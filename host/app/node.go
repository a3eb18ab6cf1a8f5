package app

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// kind is the type of a value in a file.
type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// String returns the name of the type for messages.
func (k kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "a string", "a list", "a mapping"}[k]
}

// node is a value in a YAML or JSON file, with its position. Nodes are immutable, because aliases
// share them.
type node struct {
	position
	kind kind
	// The field "value" is the value of a string, or the literal of a number or boolean.
	value   string
	items   []*node
	members []member
	// The field "size" is the number of values in the node, including the node itself. The field
	// "bytes" is the total length of the strings in these values. A shared value counts once for
	// each alias.
	size, bytes int
	// The field "start" is the position of the first character of a string. The field "start" is
	// valid only if block or verbatim is true. If block is true, each line of the string is a line
	// of the file, and all lines start at the same column. If verbatim is true, the string is on
	// one line. If block and verbatim are false, the string is folded or escaped in the file.
	start           position
	block, verbatim bool
}

// member is a key of an object, together with its value. For a duplicate key, a node contains two
// members.
type member struct {
	position
	key   string
	value *node
}

// get returns the value of the first member with the given key, or nil.
func (n *node) get(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// repeated returns the members of the object that have the same key as an earlier member.
func (n *node) repeated() []member {
	var again []member
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		if seen[m.key] {
			again = append(again, m)
		}
		seen[m.key] = true
	}
	return again
}

// repeats reports whether an object in the value has a duplicate key.
func (n *node) repeats() bool {
	found := len(n.repeated()) > 0
	n.each(func(v *node) { found = found || v.repeats() })
	return found
}

// The method "each" calls f with the direct children of the node.
func (n *node) each(f func(*node)) {
	for _, item := range n.items {
		f(item)
	}
	for _, m := range n.members {
		f(m.value)
	}
}

// The method "at" returns the position of the value to which a JSON Pointer refers. If the value is
// a member of an object, the method "at" returns the position of the key. If the value does not
// exist, the method "at" returns the position of the closest existing ancestor.
func (n *node) at(pointer string) position {
	found := n.position
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next, where := n.child(token)
		if next == nil {
			return found
		}
		n, found = next, where
	}
	return found
}

func (n *node) child(token string) (*node, position) {
	if n.kind == list {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.items) {
			return n.items[i], n.items[i].position
		}
		return nil, position{}
	}
	for _, m := range n.members {
		if m.key == token {
			return m.value, m.position
		}
	}
	return nil, position{}
}

// The method "inside" converts a line and a column in the string of the node to a position in the
// file. Lines and columns start at 1.
func (n *node) inside(line, column int) position {
	switch {
	case n.block:
		return position{n.file, n.start.line + line - 1, n.start.column + column - 1}
	case n.verbatim && line == 1:
		return position{n.file, n.start.line, n.start.column + column - 1}
	}
	return n.position
}

// seal computes the fields "size" and "bytes" of a node. All children of the node must have been
// added before.
func (n *node) seal() *node {
	n.size, n.bytes = 1, len(n.value)
	for _, m := range n.members {
		n.bytes += len(m.key)
	}
	n.each(func(v *node) {
		n.size += v.size
		n.bytes += v.bytes
	})
	return n
}

var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// appendJSON encodes the node as compact JSON. appendJSON preserves the order of members and the
// literals of numbers. The caller must first check that all numbers are valid JSON, and that there
// are no duplicate keys.
func (n *node) appendJSON(b *bytes.Buffer) {
	switch n.kind {
	case null:
		b.WriteString("null")
	case boolean, number:
		b.WriteString(n.value)
	case text:
		b.Write(jsonText(n.value))
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.appendJSON(b)
		}
		b.WriteByte(']')
	case object:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(jsonText(m.key))
			b.WriteByte(':')
			m.value.appendJSON(b)
		}
		b.WriteByte('}')
	}
}

// jsonText encodes s as a JSON string.
func jsonText(s string) []byte {
	b, _ := encode(s, "") // encoding a string cannot fail
	return bytes.TrimSuffix(b, []byte("\n"))
}
