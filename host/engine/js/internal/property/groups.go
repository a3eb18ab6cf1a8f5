package property

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The errors of CheckGroups. The errors have the texts of V8, because guests can read them.
//
//lint:file-ignore ST1005 the texts are those of V8
var (
	ErrGroup     = errors.New("Invalid capture group name")
	ErrDuplicate = errors.New("Duplicate capture group name")
	ErrReference = errors.New("Invalid named reference")
)

// CheckGroups returns an error if an expression contains an invalid named group or an invalid
// reference to a group. goja accepts invalid groups and references, but interprets them in another
// way.
func CheckGroups(pattern string, unicodeMode bool) error {
	if !strings.Contains(pattern, "(?<") && !(unicodeMode && strings.Contains(pattern, `\k`)) {
		return nil
	}
	names := map[string]bool{}
	var references []string // the text that follows each \k
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, `\k`):
			references = append(references, rest[2:])
			i++
		case rest[0] == '\\':
			i++
		case rest[0] == '[':
			i += classEnd(rest)
		case namedGroup().MatchString(rest[:min(4, len(rest))]) && strings.HasPrefix(rest, "(?<"), rest == "(?<":
			name, ok := groupName(rest[2:])
			switch {
			case !ok:
				return ErrGroup
			case names[name]:
				return ErrDuplicate
			}
			names[name] = true
		}
	}
	if len(names) == 0 && !unicodeMode {
		return nil // in an expression without named groups, \k matches the letter k
	}
	for _, reference := range references {
		if name, ok := groupName(reference); !ok || !names[name] {
			return ErrReference
		}
	}
	return nil
}

// classEnd returns the length of the character class at the start of a text.
func classEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return len(text)
}

// groupName returns the name in a text that begins with <name>.
func groupName(text string) (string, bool) {
	inside, _, ok := strings.Cut(text, ">")
	if !ok || !strings.HasPrefix(inside, "<") {
		return "", false
	}
	var name []rune
	for rest := inside[1:]; rest != ""; {
		c, size := nameRune(rest)
		if size == 0 || !inName(c, len(name) == 0) {
			return "", false
		}
		name = append(name, c)
		rest = rest[size:]
	}
	return string(name), len(name) > 0
}

// nameRune decodes the first character of a name. The first character can be an escape. If the
// escape is invalid, the result "size" is 0.
func nameRune(text string) (c rune, size int) {
	if text[0] != '\\' {
		return utf8.DecodeRuneInString(text)
	}
	if strings.HasPrefix(text, `\u{`) {
		digits, _, ok := strings.Cut(text[3:], "}")
		n, err := strconv.ParseUint(digits, 16, 32)
		if !ok || err != nil || n > lastPoint {
			return 0, 0
		}
		return rune(n), len(`\u{}`) + len(digits)
	}
	first, ok := unitEscape(text)
	if !ok {
		return 0, 0
	}
	if second, ok := unitEscape(text[6:]); ok {
		if whole := utf16.DecodeRune(first, second); whole != utf8.RuneError {
			return whole, 12
		}
	}
	return first, 6
}

// unitEscape decodes \uXXXX.
func unitEscape(text string) (rune, bool) {
	if len(text) < 6 || !strings.HasPrefix(text, `\u`) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}

func inName(c rune, first bool) bool {
	if c == '$' || c == '_' || unicode.IsLetter(c) || unicode.In(c, unicode.Nl, unicode.Other_ID_Start) {
		return true
	}
	return !first && (unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) || c == 0x200C || c == 0x200D)
}
