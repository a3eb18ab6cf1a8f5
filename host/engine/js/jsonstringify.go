package js

import (
	"strings"

	"github.com/dop251/goja"
)

// maxGap is the maximum indentation of one level in the result of JSON.stringify, in UTF-16 code
// units. The language specifies this value.
const maxGap = 10

// guestStringify implements JSON.stringify for the guest. It uses goja's function, except for the
// layout: after an empty array or object, goja indents the text one level too deep, and it splits
// multibyte characters in a long gap.
func guestStringify(r *realm, call goja.FunctionCall) goja.Value {
	gap := gapOf(r, call.Argument(2))
	call.Arguments = call.Arguments[:min(2, len(call.Arguments))]
	value := r.stringify(call)
	text, ok := value.(goja.String)
	if !ok || gap == nil {
		return value
	}
	return indent(text.String(), gap)
}

// gapOf converts the third argument of JSON.stringify to the indentation of one level. Without
// an indentation, gapOf returns nil.
func gapOf(r *realm, space goja.Value) goja.String {
	if o, ok := space.(*goja.Object); ok {
		switch o.ClassName() {
		case "Number":
			space = o.ToNumber()
		case "String":
			space = o.ToString()
		}
	}
	gap, isText := space.(goja.String)
	if !isText {
		if !goja.IsNumber(space) || !(space.ToFloat() >= 1) { // false for NaN
			return nil
		}
		return r.vm.ToValue(strings.Repeat(" ", int(min(space.ToFloat(), maxGap)))).(goja.String)
	}
	if gap.Length() == 0 {
		return nil
	}
	return gap.Substring(0, min(gap.Length(), maxGap))
}

// indent indents a JSON text. This text must contain no white space.
func indent(text string, gap goja.String) goja.Value {
	var out goja.StringBuilder
	written, depth := 0, 0
	line := func(upTo int) {
		out.WriteUTF8String(text[written:upTo])
		written = upTo
		out.WriteRune('\n')
		for range depth {
			out.WriteString(gap)
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closingQuote(text, i)
		case '[', '{':
			if i+1 < len(text) && text[i+1] == text[i]+2 { // text[i]+2 is the closing bracket
				i++
				continue
			}
			depth++
			line(i + 1)
		case ',':
			line(i + 1)
		case ':':
			out.WriteUTF8String(text[written:i+1] + " ")
			written = i + 1
		case ']', '}':
			depth--
			line(i)
		}
	}
	out.WriteUTF8String(text[written:])
	return out.String()
}

// closingQuote returns the end of a JSON string. This string begins at the offset i.
func closingQuote(text string, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}
