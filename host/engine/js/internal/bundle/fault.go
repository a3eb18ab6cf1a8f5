package bundle

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// invalid says why a tool cannot be loaded, and where.
func invalid(at place, format string, args ...any) *abi.Fault {
	f := abi.Faultf(abi.SourceInvalid, format, args...)
	f.File, f.Line, f.Column = at.file, at.line, at.column
	return f
}

// placeIn returns the place of a byte offset in a file.
func placeIn(file, text string, offset int) place {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return place{file: file, line: strings.Count(before, "\n") + 1, column: units(before[start:]) + 1}
}

// units counts the UTF-16 units of a text.
func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// countLines counts the lines of a text as esbuild does.
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
	return invalid(placeIn(file, code, offset), `this regular expression has a flag that tools do not have: d or v`).
		WithHint(`use the flags g, i, m, s, u and y; \p{...} takes the flag u`)
}
