package bundle

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// invalid returns a source_invalid fault with a position.
func invalid(at location, format string, args ...any) *abi.Fault {
	f := abi.Faultf(abi.SourceInvalid, format, args...)
	f.File, f.Line, f.Column = at.file, at.line, at.column
	return f
}

// locationIn returns the position of a byte offset in a file.
func locationIn(file, text string, offset int) location {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return location{file: file, line: strings.Count(before, "\n") + 1, column: units(before[start:]) + 1}
}

// units returns the length of a text in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// countLines returns the number of lines in a text. countLines uses esbuild's definition of a line.
func countLines(s string) int {
	n := 1
	for i, r := range s {
		if isLineEnd(r) && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n")) {
			n++
		}
	}
	return n
}

func unsupportedRegexp(file, code string, offset int) *abi.Fault {
	return invalid(locationIn(file, code, offset), `the regular expression has an unsupported flag: d or v`).
		WithHint(`use only the flags g, i, m, s, u and y; \p{...} requires the flag u`)
}
