package schema

import "strings"

// Package schema translates regular expressions from the syntax of JavaScript (ECMA-262) to the
// syntax of RE2. RE2 supports most of this syntax, but interprets some constructs differently.

// space lists the characters that \s matches in JavaScript, for use in a character class. RE2's \s
// matches only ASCII characters.
const space = `\t\n\x0b\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// translate converts a JavaScript expression to RE2. Parts that RE2 does not support stay
// unchanged, and RE2 later rejects them.
func translate(expression string) string {
	if !strings.ContainsAny(expression, `\[`) {
		return expression
	}
	var out strings.Builder
	class := false
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\' && i+1 < len(expression):
			text, size := translateEscape(expression[i:], class)
			out.WriteString(text)
			i += size - 1
			continue
		case c == '[' && !class && strings.HasPrefix(expression[i+1:], "]"):
			out.WriteString(`[^\x00-\x{10ffff}]`)
			i++
			continue
		case c == '[' && !class && strings.HasPrefix(expression[i+1:], "^]"):
			out.WriteString(`[\x00-\x{10ffff}]`)
			i += 2
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		out.WriteByte(expression[i])
	}
	return out.String()
}

// translateEscape converts the escape at the start of s to RE2. translateEscape returns the RE2
// text and the size of the escape.
func translateEscape(s string, class bool) (text string, size int) {
	const letter = 3 // \cX
	switch c := s[1]; {
	case c == 's' && class:
		return space, 2
	case c == 's':
		return "[" + space + "]", 2
	case c == 'S' && !class: // within a class, the escape keeps the meaning that RE2 gives it
		return "[^" + space + "]", 2
	case c == 'c' && len(s) >= letter && isLetter(s[2]):
		const digits = "0123456789abcdef"
		code := s[2] & 0x1f
		return `\x` + string([]byte{digits[code>>4], digits[code&15]}), letter
	case c == 'u' && len(s) >= 6 && isHex(s[2:6]):
		return `\x{` + s[2:6] + "}", 6
	}
	return s[:2], 2
}
