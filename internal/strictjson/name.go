package strictjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// fewNames is the maximum number of names that are compared pairwise, without allocation. Most
// objects are small.
const fewNames = 16

// nameSet is the set of member names of one object. Names are compared in their unescaped form.
// Adding a name takes about constant time.
type nameSet struct {
	few  [fewNames][]byte
	size int
	many map[string]struct{} // the map contains all names if there are more than fewNames
}

// add adds a name and reports whether the name is new.
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

// unescape returns the content of a checked string without its quotes.
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

// unescapeRune returns the code point of the escape at the start of raw, and its length in bytes.
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
