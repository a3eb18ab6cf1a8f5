package js

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// str decodes the string at the current position.
func (p *textParser) str() goja.String {
	p.pos++ // the quote
	start := p.pos
	plain := true
	for {
		switch c := p.peek(); {
		case p.pos >= len(p.text):
			p.failAt("Unterminated string in JSON at position ")
		case c == '"':
			token := p.text[start:p.pos]
			p.pos++
			if plain {
				return p.realm.vm.ToValue(token).(goja.String)
			}
			text := goja.StringFromUTF16(unescaped(token))
			p.special = p.special || hasLoneSurrogate(text)
			return text
		case c < ' ':
			p.failAt("Bad control character in string literal in JSON at position ")
		case c == '\\':
			plain = false
			p.escape()
		default:
			plain = plain && !isSurrogateAt(p.text, p.pos)
			p.pos++
		}
	}
}

// escape validates an escape sequence, and then skips it.
func (p *textParser) escape() {
	p.pos++ // the backslash
	if p.pos >= len(p.text) {
		p.failAt("Unterminated string in JSON at position ")
	}
	c := p.text[p.pos]
	if c != 'u' {
		if strings.IndexByte(`"\/bfnrt`, c) < 0 {
			p.failAt("Bad escaped character in JSON at position ")
		}
		p.pos++
		return
	}
	for range 4 {
		p.pos++
		if p.pos >= len(p.text) || !isHex(p.text[p.pos]) {
			p.failAt("Bad Unicode escape in JSON at position ")
		}
	}
	p.pos++
}

func isHex(c byte) bool { return isDecimal(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

var escapes = map[byte]uint16{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescaped returns the UTF-16 code units of a string. The string has already been checked, and has
// no quotes.
func unescaped(token string) []uint16 {
	units := make([]uint16, 0, len(token))
	for i := 0; i < len(token); {
		switch {
		case token[i] == '\\' && token[i+1] == 'u':
			n, _ := strconv.ParseUint(token[i+2:i+6], 16, 16)
			units = append(units, uint16(n))
			i += 6
		case token[i] == '\\':
			units = append(units, escapes[token[i+1]])
			i += 2
		case isSurrogateAt(token, i):
			units = append(units, uint16(token[i]&0xF)<<12|uint16(token[i+1]&0x3F)<<6|uint16(token[i+2]&0x3F))
			i += 3
		default:
			c, size := utf8.DecodeRuneInString(token[i:])
			units = utf16.AppendRune(units, c)
			i += size
		}
	}
	return units
}

// isSurrogateAt reports whether a text contains an unpaired surrogate, encoded as three bytes, at a
// position.
func isSurrogateAt(text string, i int) bool {
	return text[i] == 0xED && i+2 < len(text) && text[i+1] >= 0xA0 && text[i+1] <= 0xBF
}

// withSurrogates converts a string to UTF-8. Each unpaired surrogate is encoded as three bytes.
func withSurrogates(s goja.String) string {
	var b []byte
	for i, n := 0, s.Length(); i < n; i++ {
		c := rune(s.CharAt(i))
		if c < 0xD800 || c > 0xDFFF {
			b = utf8.AppendRune(b, c)
			continue
		}
		if i+1 < n {
			if whole := utf16.DecodeRune(c, rune(s.CharAt(i+1))); whole != utf8.RuneError {
				b = utf8.AppendRune(b, whole)
				i++
				continue
			}
		}
		b = append(b, 0xE0|byte(c>>12), 0x80|byte(c>>6)&0x3F|0x80, 0x80|byte(c)&0x3F)
	}
	return string(b)
}
