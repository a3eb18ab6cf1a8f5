package js

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// Bounds of a stack that is told, and of the text that it is read from.
const (
	maxFrames     = 20
	maxStackBytes = 32 << 10
)

// frame is a place in the author's source.
type frame struct {
	function     string
	file         string
	line, column int
}

// trace is the author's part of a call stack, the innermost frame first.
type trace []frame

// addTo returns a copy of f that says where it happened. A fault that says so already is copied as it is.
func (t trace) addTo(f *abi.Fault) *abi.Fault {
	placed := *f
	if len(t) == 0 || placed.File != "" {
		return &placed
	}
	placed.File, placed.Line, placed.Column = t[0].file, t[0].line, t[0].column
	placed.Stack = t.String()
	return &placed
}

// String writes the frames as JavaScript does, one a line.
func (t trace) String() string {
	lines := make([]string, len(t))
	for i, f := range t {
		place := fmt.Sprintf("%s:%d:%d", f.file, f.line, f.column)
		if f.function != "" {
			place = f.function + " (" + place + ")"
		}
		lines[i] = "    at " + place
	}
	return strings.Join(lines, "\n")
}

// add appends a place in the script, if it is the author's.
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

// stackLine matches a line that goja writes into an error's stack: "at name (file:1:2(3))" or "at file:1:2(3)".
var stackLine = lazyRegexp(`^\s*at (?:(.*) \()?(.*):(\d+):(\d+)\(\d+\)\)?$`)

// traceOfError reads where an error was made from its stack. A guest may have written that text itself: it
// then lies about its own source only. It runs guest code.
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

// cut shortens a text to about limit bytes, at a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}
