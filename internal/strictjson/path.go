package strictjson

import (
	"encoding/json"
	"strconv"
)

// Path returns the location of an offset in a document in JavaScript syntax, such as
// items[3].price. The location of the root is "". The text must be valid JSON only up to the
// offset, such as the offset of an [Error].
func Path(text []byte, offset int) string {
	var open []level
	at := &level{}
	for pos := 0; pos < min(offset, len(text)); pos++ {
		switch text[pos] {
		case '{', '[':
			open = append(open, level{array: text[pos] == '['})
			at = &open[len(open)-1]
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if at = (&level{}); len(open) > 0 {
				at = &open[len(open)-1]
			}
		case ',':
			at.index, at.named = at.index+1, false
		case '"':
			end := stringEnd(text, pos)
			if !at.array && !at.named {
				at.name, at.named = text[pos:end], true
			}
			pos = end - 1
		}
	}
	return pathText(open)
}

// level is an object or array that contains the offset, together with the position in it.
type level struct {
	array bool
	index int
	name  []byte // a token
	named bool   // true if name belongs to the current member, and not to the previous member
}

// stringEnd returns the offset after the string that starts at pos.
func stringEnd(text []byte, pos int) int {
	for pos++; pos < len(text); pos++ {
		switch text[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
	return len(text)
}

func pathText(open []level) string {
	const longest = 200
	var out []byte
	for _, l := range open {
		if len(out) > longest {
			return string(out[:longest]) + "…"
		}
		if l.array {
			out = append(strconv.AppendInt(append(out, '['), int64(l.index), 10), ']')
			continue
		}
		var name string
		if !l.named || json.Unmarshal(l.name, &name) != nil {
			break
		}
		if len(out) > 0 {
			out = append(out, '.')
		}
		out = append(out, name...)
	}
	return string(out)
}
