package strictjson

import "bytes"

// Members calls the function "visit" with the name and the text of each member of an object, in
// order, until "visit" returns false. The text must have passed Check. If the text is not an
// object, there are no members. The function "visit" must not retain or modify its arguments.
// Members allocates memory only for names with escapes.
func Members(text []byte, visit func(name, value []byte) bool) {
	w := walker{text: text}
	w.space()
	if w.peek() != '{' {
		return
	}
	w.pos++
	for {
		w.separators()
		if w.peek() != '"' {
			return
		}
		name := w.name()
		w.separators()
		start := w.pos
		w.skip()
		if !visit(name, text[start:w.pos]) {
			return
		}
	}
}

// Items calls the function "visit" with the text of each item of an array, in order, until "visit"
// returns false. The text must have passed Check. If the text is not an array, there are no items.
// The function "visit" must not retain or modify its argument.
func Items(text []byte, visit func(item []byte) bool) {
	w := walker{text: text}
	w.space()
	if w.peek() != '[' {
		return
	}
	w.pos++
	for {
		w.separators()
		if c := w.peek(); c == ']' || c == 0 {
			return
		}
		start := w.pos
		w.skip()
		if !visit(text[start:w.pos]) {
			return
		}
	}
}

// Names calls the function "visit" with each member name of all objects in a text that has passed
// Check, until "visit" returns false. The function "visit" must not retain or modify the name.
func Names(text []byte, visit func(name []byte) bool) {
	w := walker{text: text}
	for w.pos < len(text) {
		if w.peek() != '"' {
			w.pos++
			continue
		}
		name := w.name()
		w.space()
		if w.peek() == ':' && !visit(name) {
			return
		}
	}
}

// walker walks a text that has passed Check.
type walker struct {
	text []byte
	pos  int
}

func (w *walker) peek() byte {
	if w.pos < len(w.text) {
		return w.text[w.pos]
	}
	return 0
}

func (w *walker) space() {
	for c := w.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = w.peek() {
		w.pos++
	}
}

// separators skips the separators between names and values.
func (w *walker) separators() {
	for c := w.peek(); c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = w.peek() {
		w.pos++
	}
}

// name reads a string and returns its unescaped content.
func (w *walker) name() []byte {
	start := w.pos + 1
	w.str()
	inside := w.text[start : w.pos-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		return unescape(inside)
	}
	return inside
}

// str skips a string.
func (w *walker) str() {
	for w.pos++; w.pos < len(w.text) && w.text[w.pos] != '"'; w.pos++ {
		if w.text[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos = min(w.pos+1, len(w.text))
}

// skip skips a value.
func (w *walker) skip() {
	depth := 0
	for w.pos < len(w.text) {
		switch w.text[w.pos] {
		case '"':
			w.str()
		case '{', '[':
			depth++
			w.pos++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			w.pos++
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return
			}
			w.pos++
			continue
		default:
			w.pos++
			continue
		}
		if depth == 0 {
			return
		}
	}
}
