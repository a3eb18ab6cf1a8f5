package js

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

// machineHelpers is JavaScript code that each machine's module contains. The names of the functions
// begin with "$", so they cannot equal the name of a step.
const machineHelpers = `const $now = new Date().toISOString(), now = () => $now; ` +
	`const $pick = (o, names) => { const p = {}; for (const n of names) if (o[n] !== undefined) p[n] = o[n]; return p; }; ` +
	`const $remember = (o) => [o.collection, o.content, $pick(o, ["metadata", "namespace", "ttl", "id"])]; ` +
	`const $recall = (o) => [o.collection, o.query, $pick(o, ["limit", "threshold", "filter", "namespace", "mode", "scores"])]; ` +
	`const $forget = ({collection, ...selector}) => [collection, selector]; ` +
	`const $text = (v) => typeof v === "string" ? v : JSON.stringify(v) ?? ""; ` +
	`const $messages = (o) => o.role === undefined ? [{role: "user", content: $text(o.task)}] : [{role: "system", content: $text(o.role)}, {role: "user", content: $text(o.task)}]; ` +
	`const $answer = (a) => a.object ?? {text: a.text ?? ""}; `

// machineWriter writes a machine as a JavaScript module. Code that is copied from the machine's
// file stays on the same line and, if possible, in the same column. Positions in the module
// therefore usually equal positions in the file. Generated code contains no line breaks.
type machineWriter struct {
	doc          *machine.Document
	test         *machine.Test // the test that the module executes, or nil
	out          strings.Builder
	line, column int // the end of the output; line and column count from 0
	edges        map[int][]machineEdge
}

// machineEdge marks the beginning or the end of code that was copied from the machine's file.
// Columns count characters from 0.
type machineEdge struct {
	column int
	// file is the column in the file at which the code begins. file is -1 at the end of the code.
	file int
}

// write writes generated code.
func (w *machineWriter) write(format string, args ...any) { w.raw(fmt.Sprintf(format, args...)) }

func (w *machineWriter) raw(text string) {
	w.out.WriteString(text)
	if n := strings.Count(text, "\n"); n > 0 {
		w.line, w.column = w.line+n, 0
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	w.column += utf8.RuneCountInString(text)
}

// move writes line breaks and spaces up to a position. If the output is already beyond the
// position's column, the method writes no spaces.
func (w *machineWriter) move(line, column int) {
	if n := line - 1 - w.line; n > 0 {
		w.raw(strings.Repeat("\n", n))
	}
	if n := column - 1 - w.column; n > 0 {
		w.raw(strings.Repeat(" ", n))
	}
}

// place writes code from the file. The argument "inserted" contains the offsets of the bytes in the
// argument "code" that do not come from the file.
func (w *machineWriter) place(at machine.Position, code string, inserted ...int) {
	w.move(at.Line, at.Column)
	column, done := at.Column-1, 0
	for _, offset := range append(inserted, len(code)) {
		w.edge(column)
		part := code[done:offset]
		w.raw(part)
		if n := strings.LastIndexByte(part, '\n'); n >= 0 {
			column, part = 0, part[n+1:]
		}
		column += utf8.RuneCountInString(part)
		if done = offset; offset < len(code) {
			w.raw(code[offset : offset+1])
			done++
		}
	}
	w.edge(-1)
}

func (w *machineWriter) edge(file int) {
	if w.edges == nil {
		w.edges = map[int][]machineEdge{}
	}
	w.edges[w.line] = append(w.edges[w.line], machineEdge{w.column, file})
}

// position maps a position in the module to a position in the machine's file. A position in
// generated code becomes the first character of the line.
func (w *machineWriter) position(line, column int) (int, int) {
	edges := w.edges[line-1]
	last := machineEdge{file: -1}
	if len(edges) == 0 || edges[0].file < 0 {
		last.file = 0 // the code began on an earlier line
	}
	for _, e := range edges {
		if e.column <= column-1 {
			last = e
		}
	}
	lines := strings.SplitN(w.doc.Source, "\n", line+1)
	if line > len(lines) {
		return line, column
	}
	text := lines[line-1]
	begin := len(text) - len(strings.TrimLeft(text, " \t")) + 1
	if last.file < 0 {
		return line, begin
	}
	if found := column - last.column + last.file; found <= utf8.RuneCountInString(text) {
		return line, found
	}
	return line, begin
}

// module returns the module.
func (w *machineWriter) module() string {
	last := w.doc.Steps[len(w.doc.Steps)-1].Name.Value
	defaults := ""
	for _, f := range w.doc.Accepts {
		if f.Default != nil {
			defaults += jsonOf(f.Value) + ": " + string(f.Default) + ", "
		}
	}
	start := "export default async function machine_" + w.doc.Name.Value + "(input) { const steps = {}; "
	from, result := "input", "steps."+last
	if w.test != nil {
		from, result = "$given()", "{input, output: steps."+last+", expect: $expect()}"
	}
	return machineHelpers + start + "input = {" + defaults + "..." + from + "}; " + w.out.String() + " return " + result + "; }\n"
}

// writeMachineStep checks and writes the current step.
func writeMachineStep(c *machineCompiler, w *machineWriter) {
	s, name := c.step, c.step.Name.Value
	if machineGlobals[name] {
		c.errorf(s.Name.Position, problem.BadName, "choose another name", "the name %q is reserved, because JavaScript uses the name", name)
	}
	w.move(s.Line, 1)
	switch {
	case w.test != nil && writeAssumed(c, w):
	case s.Kind == machine.Compute:
		writeCompute(c, w)
	case s.Kind == machine.Ask:
		writeAsk(c, w)
	default:
		w.write("steps.%s = await memory.%s(...$%[2]s({", name, s.Kind)
		writeSettings(c, w)
		w.write("}));")
	}
	w.write(" const %s = steps.%[1]s;", name)
}

// writeAsk writes a request to a model. An error about the model's answer gets the position of the
// error handler. Therefore the error handler is on the line of the step.
func writeAsk(c *machineCompiler, w *machineWriter) {
	s := c.step
	message := fmt.Sprintf("the model's answer to the step %s is not valid: ", s.Name.Value)
	condition, reason := `e?.code === "schema_violation"`, `e.message.replace(/^the model's answer: /, "")`
	if w.test != nil {
		condition, reason, message = "true", "e.message", fmt.Sprintf("the test does not assume the result of the step %s: ", s.Name.Value)
	}
	w.write("const $fail_%s = (e) => %s ? new Error(%s + %s) : e; ", s.Name.Value, condition, jsonOf(message), reason)
	options := ""
	if schema := s.AnswerSchema(); schema != nil {
		options = ", schema: " + string(schema)
	}
	w.write("try { steps.%s = $answer(await model.chat(%s, {messages: $messages({", s.Name.Value, jsonOf(s.Model.Value))
	writeSettings(c, w)
	w.write("})%s})); } catch (e) { throw $fail_%s(e); }", options, s.Name.Value)
	for _, a := range s.Assuming {
		c.expression(a.Script)
	}
}

// writeSettings writes the members of an object.
func writeSettings(c *machineCompiler, w *machineWriter) {
	for _, setting := range c.step.Settings {
		writeSetting(c, w, setting)
	}
}

// writeSetting writes a member of an object.
func writeSetting(c *machineCompiler, w *machineWriter, setting machine.Setting) {
	code, inserted := c.expression(setting.Script)
	key := setting.Value + ":("
	at := setting.Script.Position
	w.move(at.Line, max(at.Column-len(key), 1))
	w.raw(key)
	w.place(at, code, inserted...)
	w.raw("),")
}

// writeCompute writes the code of a step as a function.
func writeCompute(c *machineCompiler, w *machineWriter) {
	body := c.step.Body
	result, before := c.body(body)
	w.write("steps.%s = (function () {", c.step.Name.Value)
	if result < 0 {
		w.place(body.Position, body.Text)
		w.raw("})();")
		return
	}
	if result > 0 {
		w.place(body.Position, body.Text[:before])
	}
	w.raw("; return (")
	w.place(c.doc.PositionAt(body.Offset+result), strings.TrimRight(body.Text[result:], "; \t\r\n"))
	w.raw("); })();")
}

func jsonOf(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return `""` // strings always encode
	}
	return string(encoded)
}
