package schema

import "strings"

// Schemas have regular expressions of JavaScript (ECMA-262). RE2 has most of them, and reads some others differently.

// space is what \s matches in JavaScript, as a part of a class. RE2's \s is ASCII.
const space = `\t\n\x0b\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// translate writes an expression of JavaScript for RE2. What RE2 does not have stays as it is, and is refused.
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

// translateEscape returns the escape that s begins with as RE2 has it, and its size.
func translateEscape(s string, class bool) (text string, size int) {
	const letter = 3 // \cX
	switch c := s[1]; {
	case c == 's' && class:
		return space, 2
	case c == 's':
		return "[" + space + "]", 2
	case c == 'S' && !class: // within a class, RE2's own meaning stays
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
