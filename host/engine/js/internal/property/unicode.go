package property

import (
	"errors"
	"strings"
)

// Errors of CheckUnicode, in the words of V8, which guests read.
//
//lint:file-ignore ST1005 the words are those of V8
var (
	ErrEscape = errors.New("Invalid escape")
	ErrRepeat = errors.New("Nothing to repeat")
)

// The letters that have a meaning behind a backslash with the flag u, outside of a class and within one.
const (
	escapes      = "bBfnrtvdDsSwWpPuxck"
	classEscapes = "bfnrtvdDsSwWpPuxc"
)

// CheckUnicode reports what an expression of the flag u must not have although goja takes it: a letter that is escaped for no
// reason, such as \Z of other languages, and a look around that is repeated.
func CheckUnicode(pattern string) error {
	var looks []bool // of the groups that are open
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; rest[0] {
		case '\\':
			if i++; !escapable(rest, escapes) {
				return ErrEscape
			}
		case '[':
			end := classEnd(rest)
			if !classEscapable(rest[:end]) {
				return ErrEscape
			}
			i += end
		case '(':
			looks = append(looks, isLook(rest))
		case ')':
			if n := len(looks); n > 0 {
				if looks[n-1] && len(rest) > 1 && strings.IndexByte("*+?{", rest[1]) >= 0 {
					return ErrRepeat
				}
				looks = looks[:n-1]
			}
		}
	}
	return nil
}

// escapable reports whether the escape that a text begins with is none of a letter, or of one of those given.
func escapable(text, letters string) bool {
	if len(text) < 2 {
		return true
	}
	c := text[1] | 0x20
	return c < 'a' || c > 'z' || strings.IndexByte(letters, text[1]) >= 0
}

func classEscapable(class string) bool {
	for i := 1; i < len(class); i++ {
		if class[i] == '\\' {
			if !escapable(class[i:], classEscapes) {
				return false
			}
			i++
		}
	}
	return true
}

// isLook reports whether a text begins a look ahead or a look behind.
func isLook(text string) bool {
	for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}
