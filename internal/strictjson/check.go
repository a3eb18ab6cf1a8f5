package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Check reports whether text is exactly one JSON value (RFC 8259) within lim. Check rejects invalid
// UTF-8, lone surrogate escapes, and duplicate member names in an object, even if they are escaped
// differently. Check also rejects number tokens over 40 characters or with an exponent beyond ±308.
// An error of Check is of type *Error.
//
// Check makes one pass over the text. Check allocates memory only for member names that are written
// with escapes, and for member names of objects with more than 16 members. Time and memory are
// linear in the size of the text.
func Check(text []byte, lim Limits) error {
	s := scanner{text: text, lim: lim.withDefaults()}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos < len(text) {
		return s.fail("unexpected data after the JSON value")
	}
	return nil
}

// A scanner scans one text. The methods of a scanner return *Error, and Check converts the result
// to an error, because a nil *Error in an error would not be equal to nil.
type scanner struct {
	text   []byte
	pos    int
	values int // started so far
	lim    Limits
}

func (s *scanner) fail(message string) *Error {
	return s.failAt(s.pos, Malformed, message)
}

func (s *scanner) failAt(offset int, kind Kind, message string) *Error {
	return &Error{Offset: offset, Kind: kind, Message: message}
}

// peek returns the next byte, or 0 at the end of the text. The byte 0 is never part of valid JSON.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value scans one value without surrounding whitespace. depth is the number of open arrays and
// objects.
func (s *scanner) value(depth int) *Error {
	if s.values++; s.values > s.lim.Values {
		return s.failAt(s.pos, TooManyValues, "the document has too many values")
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth + 1)
	case c == '[':
		return s.array(depth + 1)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case s.pos == len(s.text):
		return s.fail("the text ends before a value")
	}
	return s.fail("expected a value")
}

func (s *scanner) word(want string) *Error {
	for i := range len(want) {
		if !s.take(want[i]) {
			return s.fail("expected a value")
		}
	}
	return nil
}

func (s *scanner) open(depth int) *Error {
	if depth > s.lim.Depth {
		return s.failAt(s.pos, TooDeep, "arrays and objects are nested too deeply")
	}
	s.pos++
	s.space()
	return nil
}

func (s *scanner) array(depth int) *Error {
	if err := s.open(depth); err != nil {
		return err
	}
	if s.take(']') {
		return nil
	}
	for {
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.fail("expected ',' or ']' after an array's element")
		}
		s.space()
	}
}

func (s *scanner) object(depth int) *Error {
	if err := s.open(depth); err != nil {
		return err
	}
	if s.take('}') {
		return nil
	}
	var names nameSet
	for {
		if names.size == s.lim.Keys {
			return s.failAt(s.pos, TooManyKeys, "an object has too many members")
		}
		if err := s.name(&names); err != nil {
			return err
		}
		if err := s.value(depth); err != nil {
			return err
		}
		s.space()
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.fail("expected ',' or '}' after an object's member")
		}
		s.space()
	}
}

// name scans a member name, the colon and the whitespace after the colon.
func (s *scanner) name(names *nameSet) *Error {
	if s.peek() != '"' {
		return s.fail("expected a member name in double quotes")
	}
	start := s.pos
	escaped, err := s.str()
	if err != nil {
		return err
	}
	name := s.text[start+1 : s.pos-1]
	if escaped {
		name = unescape(name)
	}
	if !names.add(name) {
		return s.failAt(start, Malformed, "an object has the same member name twice")
	}
	s.space()
	if !s.take(':') {
		return s.fail("expected ':' after a member name")
	}
	s.space()
	return nil
}

// str scans a string with its quotes and reports whether it contains an escape.
func (s *scanner) str() (escaped bool, err *Error) {
	s.pos++
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return escaped, err
			}
		case c < ' ':
			return escaped, s.fail("a control character in a string is not escaped")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, size := utf8.DecodeRune(s.text[s.pos:])
			if r == utf8.RuneError && size == 1 {
				return escaped, s.fail("a string is not valid UTF-8")
			}
			s.pos += size
		}
	}
	return escaped, s.fail("the text ends inside a string")
}

func (s *scanner) escape() *Error {
	start := s.pos
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return s.failAt(start, Malformed, "unknown escape in a string")
	}
	r, ok := hex4(s.text[start:])
	if !ok {
		return s.failAt(start, Malformed, `an escape \u requires four hexadecimal digits`)
	}
	s.pos = start + escapeLen
	if !utf16.IsSurrogate(r) {
		return nil
	}
	low, ok := hex4(s.text[s.pos:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.failAt(start, Malformed, "a string contains an unpaired surrogate")
	}
	s.pos += escapeLen
	return nil
}

// escapeLen is the length of a numeric escape: a backslash, a u and four hexadecimal digits.
const escapeLen = 6

// hex4 parses a numeric escape at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < escapeLen || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:escapeLen] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
