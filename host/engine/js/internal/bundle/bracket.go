package bundle

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// The bundler wraps a body in a function before parsing. If a bracket is missing, a parser
// therefore reports an error in text that the author did not write. The scan finds the position of
// the unmatched bracket in the author's text.

// bracketFault returns the fault for the first unmatched bracket in the tool's file, or nil.
func (t *tool) bracketFault() *abi.Fault {
	switch {
	case t.scan.stray >= 0:
		return t.strayFault()
	case t.scan.open >= 0:
		return invalid(locationIn(t.path, t.code, t.scan.open), "the source ends before this %q is closed", t.bracket(t.scan.open)).
			WithHint("add the closing bracket")
	}
	return nil
}

// strayFault returns the fault for a closing bracket that has no opening bracket.
func (t *tool) strayFault() *abi.Fault {
	if t.scan.stray < 0 {
		return invalid(t.end(), "a closing bracket has no opening bracket")
	}
	at := locationIn(t.path, t.code, t.scan.stray)
	if t.scan.opener < 0 {
		return invalid(at, "a closing bracket has no opening bracket: %q", t.bracket(t.scan.stray))
	}
	opener := locationIn(t.path, t.code, t.scan.opener)
	return invalid(at, "%q does not match %q on line %d, column %d", t.bracket(t.scan.stray), t.bracket(t.scan.opener), opener.line, opener.column).
		WithHint("close the inner bracket first")
}

// bracket returns the bracket at an offset.
func (t *tool) bracket(offset int) string {
	if strings.HasPrefix(t.code[offset:], "${") {
		return "${"
	}
	return t.code[offset : offset+1]
}

// mayBeBracket reports whether an unmatched bracket can cause a message of the parser.
func mayBeBracket(text string) bool { return !strings.HasPrefix(text, "Unterminated") }
