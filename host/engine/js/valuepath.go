package js

import (
	"strconv"
	"strings"
)

// step is one element of a path. If index is negative, the step is a key. Otherwise, the step is an
// index.
type step struct {
	key   string
	index int
}

// pathText returns a path in JavaScript notation. Long paths are truncated.
func pathText(root string, path []step) string {
	const longest = 200
	var b strings.Builder
	b.WriteString(root)
	for _, s := range path {
		if b.Len() > longest {
			b.WriteString("…")
			break
		}
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case isIdentifier(s.key):
			b.WriteString("." + cut(s.key, longest))
		default:
			b.WriteString("[" + string(appendQuoted(nil, cut(s.key, longest))) + "]")
		}
	}
	return b.String()
}

func isIdentifier(s string) bool {
	for i, c := range s {
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

const hexDigits = "0123456789abcdef"

func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	return append(append(out, s[from:]...), '"')
}
