package property

import (
	"errors"
	"strings"
)

// The errors of CheckUnicode. The errors have the texts of V8, because guests can read them.
//
//lint:file-ignore ST1005 the texts are those of V8
var (
	ErrEscape = errors.New("Invalid escape")
	ErrRepeat = errors.New("Nothing to repeat")
)

// With the flag u, only some letters have a meaning after a backslash. The constants contain these
// letters. The constant "escapes" contains the letters outside of character classes, and
// classEscapes the letters inside of character classes.
const (
	escapes      = "bBfnrtvdDsSwWpPuxck"
	classEscapes = "bfnrtvdDsSwWpPuxc"
)

// CheckUnicode returns an error for a construct that JavaScript forbids in an expression with the
// flag u, but that goja accepts. For example, JavaScript forbids a repeated lookaround and the
// escape \Z.
func CheckUnicode(pattern string) error {
	var lookarounds []bool // for each open group, true if the group is a lookaround
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
			lookarounds = append(lookarounds, isLookaround(rest))
		case ')':
			if n := len(lookarounds); n > 0 {
				if lookarounds[n-1] && len(rest) > 1 && strings.IndexByte("*+?{", rest[1]) >= 0 {
					return ErrRepeat
				}
				lookarounds = lookarounds[:n-1]
			}
		}
	}
	return nil
}

// escapable reports whether the escape at the start of a text is valid. Letters that are not in the
// argument "letters" cannot be escaped. All other characters can be escaped.
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

// isLookaround reports whether a text begins with a lookahead or a lookbehind.
func isLookaround(text string) bool {
	for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}
