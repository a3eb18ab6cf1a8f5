package extract

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

// formula converts an equation from Office MathML (ECMA-376 part 1, section 22.1) to TeX. When the
// first argument of an element begins, the TeX that precedes the argument is written. Text
// therefore never has to be moved.
type formula struct {
	tex        []byte
	plain      []byte // the equation's text, if the equation contains only text so far
	structured bool
	limit      int // the maximum size of tex in bytes
	open       []mathElement
	names      int // the number of enclosing elements that contain the name of a function
	aligned    int // the number of enclosing elements that are arrays of equations
	command    int // the end of the last alphabetic command in tex
}

// mathElement is an element of an equation that has begun but not ended.
type mathElement struct {
	name       string
	start      int // the start of the element's TeX
	body       int // the start of the content's TeX
	end        string
	arguments  int               // the number of arguments that have begun
	atom       [2]int            // the start and end of the last child that needs no braces before an index
	properties map[string]string // the properties of the element, such as the character of an accent
}

// startMath begins an element of Office MathML.
func (w *docx) startMath(t xml.StartElement) error {
	switch name := t.Name.Local; {
	case name == "t":
		w.inText = true
	case name == "oMathPara":
		w.display = 1
	case name == "oMath" && w.formula == nil:
		w.startFormula()
	case strings.HasSuffix(name, "Pr") && w.formula != nil:
		w.depth--
		return w.skipWith(w.formula.property)
	}
	if w.formula != nil {
		w.formula.begin(t.Name.Local)
	}
	return nil
}

// startFormula begins an equation. If a paragraph contains only equations, each equation is on a
// separate line.
func (w *docx) startFormula() {
	if w.display > 1 {
		w.put("\n")
	}
	if w.display > 0 {
		w.display++
	}
	w.formula = &formula{limit: w.limit - len(w.text)}
}

// endMath ends an element of Office MathML.
func (w *docx) endMath(name string) {
	if name == "oMathPara" {
		w.display = 0
	}
	if w.formula == nil {
		return
	}
	if w.formula.finish(); len(w.formula.open) == 0 {
		w.endFormula()
	}
}

// endFormula ends the current equation, if there is one. If the equation contains only text,
// endFormula writes the equation as plain text. Otherwise, endFormula writes the equation as TeX
// between dollar signs.
func (w *docx) endFormula() {
	f := w.formula
	if f == nil {
		return
	}
	w.formula = nil
	text := string(f.plain)
	if f.structured {
		dollars := "$"
		if w.display > 0 {
			dollars = "$$"
		}
		text = dollars + string(bytes.TrimSpace(f.tex)) + dollars
	}
	if text != "" {
		w.put(text)
	}
	w.truncated = w.truncated || len(f.tex) > f.limit
}

// maxMathProperty is the maximum number of bytes of a property's value.
const maxMathProperty = 16

// property stores a property of the open element if the property affects the output.
func (f *formula) property(t xml.StartElement) {
	value := attribute(t, "val")
	if len(f.open) == 0 || !mathProperties[t.Name.Local] || len(value) > maxMathProperty {
		return
	}
	e := &f.open[len(f.open)-1]
	if e.properties == nil {
		e.properties = map[string]string{}
	}
	e.properties[t.Name.Local] = value
}

// The method "is" reports whether a Boolean property of an element is on. If the property has no
// value, it is on.
func (e *mathElement) is(name string) bool {
	switch value, ok := e.properties[name]; value {
	case "0", "off", "false":
		return false
	default:
		return ok
	}
}

// property of mathElement returns the value of a property. If the property is absent, the method
// returns a default.
func (e *mathElement) property(name, fallback string) string {
	if value, ok := e.properties[name]; ok {
		return value
	}
	return fallback
}

func (f *formula) emit(tex string) {
	if tex != "" {
		f.structured, f.plain = true, nil
		f.tex = append(f.tex, tex...)
	}
}

// begin begins an element. An element that begins can be an argument of the enclosing element.
func (f *formula) begin(name string) {
	e := mathElement{name: name, start: len(f.tex)}
	if n := len(f.open); n > 0 {
		parent := &f.open[n-1]
		if start, end, ok := f.argument(parent, name); ok {
			if parent.arguments++; parent.arguments == 1 {
				f.emit(parent.head())
			} else {
				f.emit(parent.separator())
			}
			e.start, e.end = len(f.tex), end
			f.emit(start)
		}
	}
	e.body = len(f.tex)
	f.count(name, 1)
	f.open = append(f.open, e)
}

// count adds the argument "by" to the counter for an element that affects how the text within it is
// written.
func (f *formula) count(name string, by int) {
	switch name {
	case "fName":
		f.names += by
	case "eqArr":
		f.aligned += by
	}
}

// finish ends the innermost open element.
func (f *formula) finish() {
	n := len(f.open) - 1
	if n < 0 {
		return
	}
	e := f.open[n]
	f.open = f.open[:n]
	f.count(e.name, -1)
	if n == 0 {
		return
	}
	parent := &f.open[n-1]
	switch {
	case parent.omits(e.name, len(f.tex) == e.body):
		f.tex = f.tex[:e.start]
	case parent.indexed() && e.end == "}" && e.name == "e" && f.atomic(&e):
		f.tex = append(f.tex[:e.start], f.tex[e.body:]...)
	default:
		f.emit(e.tail())
		f.emit(e.end)
	}
	if whole := [2]int{e.start, len(f.tex)}; atoms[e.name] || e.name == "r" && e.atom == whole {
		parent.atom = whole
	}
}

// maxAtom is the maximum number of bytes that are moved to omit braces.
const maxAtom = 256

// atomic reports whether the base of an index needs no braces. Most bases need them.
func (f *formula) atomic(e *mathElement) bool {
	content := f.tex[e.body:]
	if len(content) > maxAtom {
		return false
	}
	return e.atom == [2]int{e.body, len(f.tex)} || utf8.RuneCount(content) == 1
}

// write adds text to the equation, in the style of the current run.
func (f *formula) write(text string) {
	if !f.structured {
		f.plain = append(f.plain, text...)
	}
	n := len(f.open) - 1
	if n > 0 && f.open[n].name == "t" {
		n--
	}
	if n < 0 || f.open[n].name != "r" {
		f.tex = append(f.tex, texEscapes.Replace(text)...)
		return
	}
	tex, atom := f.styled(text, &f.open[n])
	if f.command == len(f.tex) && f.command > 0 && isLetters(tex[:min(1, len(tex))]) {
		f.tex = append(f.tex, ' ')
	}
	begun := len(f.tex)
	if f.tex = append(f.tex, tex...); tex == `\`+text {
		f.command = len(f.tex)
	}
	if atom {
		f.open[n].atom = [2]int{begun, len(f.tex)}
	}
}

// styled returns the text of a run as TeX. The second result is true if the TeX needs no braces
// before an index.
func (f *formula) styled(text string, run *mathElement) (tex string, atom bool) {
	escaped := texEscapes.Replace(text)
	if f.aligned > 0 {
		escaped = strings.ReplaceAll(escaped, `\&`, "&")
	}
	if strings.TrimSpace(text) == "" {
		return escaped, false
	}
	command := run.style(isWord(text))
	switch {
	case texFunctions[text] && (f.names > 0 || command == `\mathrm`):
		return `\` + text, true
	case f.names > 0 && isWord(text):
		command = `\operatorname`
	}
	if command == "" {
		return escaped, false
	}
	return command + "{" + escaped + "}", true
}
