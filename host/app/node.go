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

// String returns the name of the type, for use in messages.
func (k kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "a string", "a list", "a mapping"}[k]
}

// node is a value in a YAML or JSON file, with its position. Several aliases can share a node.
// Therefore, nodes are immutable.
type node struct {
	position
	kind kind
	// value is the value of a string, or the literal of a number or boolean.
	value   string
	items   []*node
	members []member
	// size is the number of values that the node contains, including the node itself. bytes is the
	// total length of the strings in these values. If aliases share a value, the value counts once
	// for each of these aliases.
	size, bytes int
	// start is the position at which a string begins. start is valid only if block or verbatim is
	// true. If block is true, each line of the string is a line of the file. All these lines begin
	// at the same column. If verbatim is true, the string is on one line of the file, without
	// escapes. If neither of the fields "block" and "verbatim" is true, the string is folded or
	// escaped in the file.
	start           position
	block, verbatim bool
}

// member is a key of an object, together with its value. If an object contains a key twice, its
// node contains two members with this key.
type member struct {
	position
	key   string
	value *node
}

// get returns the value of the first member that has the given key, or nil.
func (n *node) get(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// repeated returns each member of the object whose key is also the key of an earlier member.
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

// repeats reports whether any object in the value contains a key twice.
func (n *node) repeats() bool {
	found := len(n.repeated()) > 0
	n.each(func(v *node) { found = found || v.repeats() })
	return found
}

// The method "each" calls the function f for each direct child of the node.
func (n *node) each(f func(*node)) {
	for _, item := range n.items {
		f(item)
	}
	for _, m := range n.members {
		f(m.value)
	}
}

// The method "at" returns the position of the value to which a JSON Pointer refers. If the value is
// a member of an object, the method "at" returns the position of the member's key. If the value
// does not exist, the method "at" follows the pointer as far as possible, and returns the position
// of the last existing value.
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

// inside converts a position in the string of the node to a position in the file. Its arguments are
// a line and a column. The first line is line 1, and the first column is column 1.
func (n *node) inside(line, column int) position {
	switch {
	case n.block:
		return position{n.file, n.start.line + line - 1, n.start.column + column - 1}
	case n.verbatim && line == 1:
		return position{n.file, n.start.line, n.start.column + column - 1}
	}
	return n.position
}

// seal computes the fields "size" and "bytes" of a node. Before the call, all children of the node
// must have been added.
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

// appendJSON encodes the node as compact JSON. The order of members and the literals of numbers do
// not change. Before the call, the caller must check two conditions: all numbers are valid JSON,
// and no object contains a key twice.
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

// jsonText encodes the argument "s" as a JSON string.
func jsonText(s string) []byte {
	b, _ := encode(s, "") // encoding a string never fails
	return bytes.TrimSuffix(b, []byte("\n"))
}
