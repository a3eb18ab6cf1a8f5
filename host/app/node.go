package app

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// kind is the kind of a value in a file.
type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// String returns what messages call the kind.
func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "a text", "a list", "a mapping"}[k]
}

// node is a value with its place, whether it was written as YAML or as JSON. Aliases share nodes, so it is
// not changed once it is made.
type node struct {
	place
	kind kind
	// value is the text, or the literal of a number or boolean.
	value   string
	items   []*node
	members []member
	// size and bytes count the values below, this one included, and the bytes of their texts, with what is
	// shared counted each time.
	size, bytes int
	// start is where the text's first character stands, where every line of the text is one line of the file
	// from the same column on (block), or the text is one line (verbatim). Otherwise the text was folded or
	// escaped, and both are false.
	start           place
	block, verbatim bool
}

// member is a key of an object with its value. A key given twice has two members.
type member struct {
	place
	key   string
	value *node
}

// get returns the value of the first member with that key, or nil.
func (n *node) get(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// repeated returns the members of the object whose keys stand before them already.
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

// repeats reports whether any object in the value has a key twice.
func (n *node) repeats() bool {
	found := len(n.repeated()) > 0
	n.each(func(v *node) { found = found || v.repeats() })
	return found
}

// each calls f with the values directly within the node.
func (n *node) each(f func(*node)) {
	for _, item := range n.items {
		f(item)
	}
	for _, m := range n.members {
		f(m.value)
	}
}

// at returns the place of the value that a JSON Pointer names: that of its key where it has one. It goes as
// far as the pointer leads.
func (n *node) at(pointer string) place {
	found := n.place
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

func (n *node) child(token string) (*node, place) {
	if n.kind == list {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.items) {
			return n.items[i], n.items[i].place
		}
		return nil, place{}
	}
	for _, m := range n.members {
		if m.key == token {
			return m.value, m.place
		}
	}
	return nil, place{}
}

// inside returns the place of a line and a column of the node's text, both counted from 1.
func (n *node) inside(line, column int) place {
	switch {
	case n.block:
		return place{n.file, n.start.line + line - 1, n.start.column + column - 1}
	case n.verbatim && line == 1:
		return place{n.file, n.start.line, n.start.column + column - 1}
	}
	return n.place
}

// seal counts what is below the node.
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

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// appendJSON writes the node as compact JSON, in the order of the file and with the literals of the file.
// The caller has seen to it that numbers are JSON's and that no key is given twice.
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

// jsonText writes s as a JSON string.
func jsonText(s string) []byte {
	b, _ := encode(s, "") // a string always encodes
	return bytes.TrimSuffix(b, []byte("\n"))
}
