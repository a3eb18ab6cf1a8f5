package strictjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// fewNames is how many names are compared each with each, which costs no allocation; most objects are small.
const fewNames = 16

// nameSet holds the member names of one object, as what they say and not as they are spelled. Adding a name
// takes about the same time however many there are.
type nameSet struct {
	few  [fewNames][]byte
	size int
	many map[string]struct{} // all names, once there are more than few
}

// add reports whether name is new, and keeps it.
func (n *nameSet) add(name []byte) bool {
	if n.many != nil {
		if _, old := n.many[string(name)]; old {
			return false
		}
		n.many[string(name)] = struct{}{}
		n.size++
		return true
	}
	for _, other := range n.few[:n.size] {
		if bytes.Equal(name, other) {
			return false
		}
	}
	if n.size == fewNames {
		n.spill()
		return n.add(name)
	}
	n.few[n.size] = name
	n.size++
	return true
}

func (n *nameSet) spill() {
	n.many = make(map[string]struct{}, 4*fewNames)
	for _, name := range n.few[:n.size] {
		n.many[string(name)] = struct{}{}
	}
}

// unescape returns what the inside of a string says that was already checked.
func unescape(raw []byte) []byte {
	text := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			return append(text, raw...)
		}
		r, size := unescapeRune(raw[plain:])
		text = utf8.AppendRune(append(text, raw[:plain]...), r)
		raw = raw[plain+size:]
	}
	return text
}

var shortEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescapeRune returns the code point of the escape at the beginning of raw, and the bytes it takes.
func unescapeRune(raw []byte) (r rune, size int) {
	if raw[1] != 'u' {
		return shortEscapes[raw[1]], 2
	}
	r, _ = hex4(raw)
	if !utf16.IsSurrogate(r) {
		return r, escapeLen
	}
	low, _ := hex4(raw[escapeLen:])
	return utf16.DecodeRune(r, low), 2 * escapeLen
}
