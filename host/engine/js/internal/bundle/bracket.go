package bundle

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// A body is parsed inside of a function, so that a parser blames a bracket that is missing on text that the author did not
// write. The scan knows which bracket it was.

// bracketFault returns the fault for a bracket of the tool's file that has no partner, nil if each has one.
func (t *tool) bracketFault() *abi.Fault {
	switch {
	case t.scan.stray >= 0:
		return t.strayFault()
	case t.scan.open >= 0:
		return invalid(placeIn(t.path, t.code, t.scan.open), "this %q is not closed: the source ends first", t.bracket(t.scan.open)).
			WithHint("add the bracket that closes it")
	}
	return nil
}

// strayFault reports a bracket that closes none.
func (t *tool) strayFault() *abi.Fault {
	if t.scan.stray < 0 {
		return invalid(t.end(), "a bracket is closed that was not opened")
	}
	at := placeIn(t.path, t.code, t.scan.stray)
	if t.scan.opener < 0 {
		return invalid(at, "a bracket is closed that was not opened: %q", t.bracket(t.scan.stray))
	}
	opener := placeIn(t.path, t.code, t.scan.opener)
	return invalid(at, "%q does not close %q of line %d, column %d", t.bracket(t.scan.stray), t.bracket(t.scan.opener), opener.line, opener.column).
		WithHint("close the inner bracket first")
}

// bracket returns the bracket at an offset.
func (t *tool) bracket(offset int) string {
	if strings.HasPrefix(t.code[offset:], "${") {
		return "${"
	}
	return t.code[offset : offset+1]
}

// isBracketTrouble reports whether a parser's text may stem from a bracket without a partner.
func isBracketTrouble(text string) bool { return !strings.HasPrefix(text, "Unterminated") }
