package js

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// The limits for a reported call stack, and for the text that contains the stack before parsing.
const (
	maxFrames     = 20
	maxStackBytes = 32 << 10
)

// frame is a position in the author's files, together with the function name.
type frame struct {
	function     string
	file         string
	line, column int
}

// trace is a call stack. trace contains only positions in the author's files and begins with the
// innermost frame.
type trace []frame

// addTo returns a copy of f with the position and the stack. If f already has a position, the copy
// is unchanged.
func (t trace) addTo(f *abi.Fault) *abi.Fault {
	located := *f
	if len(t) == 0 || located.File != "" {
		return &located
	}
	located.File, located.Line, located.Column = t[0].file, t[0].line, t[0].column
	located.Stack = t.String()
	return &located
}

// String returns the frames in JavaScript's format, one per line.
func (t trace) String() string {
	lines := make([]string, len(t))
	for i, f := range t {
		position := fmt.Sprintf("%s:%d:%d", f.file, f.line, f.column)
		if f.function != "" {
			position = f.function + " (" + position + ")"
		}
		lines[i] = "    at " + position
	}
	return strings.Join(lines, "\n")
}

// add appends the frame for a position in the script. The method ignores positions that are not in
// the author's files.
func (t trace) add(p *program, function string, line, column int) trace {
	if len(t) >= maxFrames {
		return t
	}
	file, line, column, ok := p.script.position(line, column)
	if !ok {
		return t
	}
	if function == "<anonymous>" {
		function = ""
	}
	return append(t, frame{function: cut(function, 100), file: file, line: line, column: column})
}

func (p *program) traceOf(frames []goja.StackFrame) trace {
	var t trace
	for i := range frames {
		if frames[i].SrcName() != p.name {
			continue
		}
		at := frames[i].Position()
		t = t.add(p, frames[i].FuncName(), at.Line, at.Column)
	}
	return t
}

// stackLine matches a line that goja writes into an error's stack: "at name (file:1:2(3))" or "at
// file:1:2(3)".
var stackLine = lazyregexp.New(`^\s*at (?:(.*) \()?(.*):(\d+):(\d+)\(\d+\)\)?$`)

// traceOfError parses the stack of an error. traceOfError runs guest code. A guest can change the
// stack text. Even then, all resulting positions are in the guest's own source.
func (p *program) traceOfError(value goja.Value) trace {
	object, ok := value.(*goja.Object)
	if !ok {
		return nil
	}
	text, ok := object.Get("stack").(goja.String)
	if !ok {
		return nil
	}
	return p.parseStack(text.String())
}

func (p *program) parseStack(text string) trace {
	var t trace
	for line := range strings.Lines(cut(text, maxStackBytes)) {
		match := stackLine().FindStringSubmatch(strings.TrimRight(line, "\n"))
		if match == nil || match[2] != p.name {
			continue
		}
		row, errRow := strconv.Atoi(match[3])
		column, errColumn := strconv.Atoi(match[4])
		if errRow == nil && errColumn == nil {
			t = t.add(p, match[1], row, column)
		}
	}
	return t
}

// cut truncates a text at a character boundary. The size of the result is about "limit" bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}
