package machine

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

// Parse reads a file and returns its document. Parse also returns the problems of the file, except
// problems within JavaScript code. Parse returns a document even if the file has errors. The
// argument "file" is the name of the file in the problems.
func Parse(file string, src []byte) (*Document, problem.List) {
	r := read(file, src)
	check(r)
	return r.doc, r.problems.Sorted()
}

// read reads the lines of a file into a document.
func read(file string, src []byte) *source {
	r := &source{reporter: reporter{file: file}, doc: &Document{File: file}}
	if r.split(src) {
		r.doc.Source = r.text
		reader{r}.machine()
	}
	return r
}

// reader reads a machine: its sections and its steps.
type reader struct{ *source }

const nameText = `[A-Za-z_][A-Za-z0-9_]{0,63}`

var (
	nameRule    = lazyregexp.New(`^` + nameText + `$`)
	machineLine = lazyregexp.New(`^machine (\S+)$`)
	stepLine    = lazyregexp.New(`^([A-Za-z_]+) (` + nameText + `|<[A-Za-z_ ]+>)(?: ?, ?(.+))?$`)
	description = lazyregexp.New(`^description (".*")$`)
)

// The keywords of sections, of steps and of tests.
var (
	sections  = []string{"accepts", "responds with", "ensures", "implements", "verifies"}
	stepKinds = []string{string(Remember), string(Recall), string(Forget), string(Ask), string(Compute)}
)

// jsKeywords contains the words that can precede another word in JavaScript.
var jsKeywords = map[string]bool{
	"let": true, "const": true, "var": true, "return": true, "new": true, "typeof": true, "async": true, "function": true, "class": true,
	"if": true, "else": true, "do": true, "of": true, "in": true, "throw": true, "delete": true, "void": true, "await": true,
	"yield": true, "import": true, "export": true, "case": true, "static": true, "get": true, "set": true, "break": true, "continue": true,
}

// section returns the keyword of the section that a line begins. If the line does not begin a
// section, the function returns "".
func section(l *line) string {
	text, _ := words(l)
	for _, s := range sections {
		if text == s {
			return s
		}
	}
	return ""
}

// stepHeader returns the parts of a line that begins a step: the keyword, the name and the options.
// Even if the keyword is unknown, a line that begins with two words begins a step, unless the line
// is JavaScript.
func stepHeader(l *line) []string {
	text, _ := words(l)
	parts := stepLine().FindStringSubmatch(text)
	if parts == nil || jsKeywords[parts[1]] || parts[2] == "as" {
		return nil
	}
	return parts
}

// isEnd reports whether a line is the word "end". In other languages, the word "end" ends a block.
// In a machine, the word "end" has no meaning.
func isEnd(l *line) bool {
	text, _ := words(l)
	return text == "end"
}

// boundary reports whether a line begins a section or a step. For the meaningless word "end", the
// result is also true.
func boundary(l *line) bool { return section(l) != "" || stepHeader(l) != nil || isEnd(l) }

// machine reads the whole file.
func (r reader) machine() {
	l := r.peek()
	if l == nil {
		r.errorf(Position{}, problem.MissingKey, "begin with `machine NAME`", "the file is empty")
		return
	}
	text, comment := words(l)
	if m := machineLine().FindStringSubmatch(text); m != nil {
		r.doc.Name = r.name(l, m[1], len("machine"))
		r.take(l, 0, withComment(text, comment))
	} else {
		const hint, message = "begin with `machine NAME`", "the file does not begin with the name of the machine"
		if !r.hasPart() { // not a machine: otherwise, each line would be reported as a mistake
			r.errorf(r.at(l), problem.Syntax, hint, message)
			return
		}
		r.errorf(r.at(l), problem.MissingKey, hint, message)
	}
	seen := map[string]bool{}
	for l = r.peek(); l != nil; l = r.peek() {
		r.part(l, seen)
	}
}

// hasPart reports whether a line of the file begins a section or a step.
func (r reader) hasPart() bool {
	return slices.ContainsFunc(r.lines, func(l line) bool {
		h := stepHeader(&l)
		return section(&l) != "" || h != nil && slices.Contains(stepKinds, h[1])
	})
}

// part reads a section. If the next line does not begin a section, the method reads the line as a
// line outside of all sections.
func (r reader) part(l *line, seen map[string]bool) {
	text, comment := words(l)
	name := section(l)
	if m := description().FindStringSubmatch(text); m != nil {
		value, ok := Script{Text: m[1]}.Literal()
		if !ok {
			r.errorf(r.at(l), problem.BadValue, `write: description "What the machine does."`, "the description is not a string")
		}
		r.doc.Description, _ = value.(string)
		r.take(l, 1, withComment(text, comment))
		return
	}
	if name == "" {
		r.stray(l, text, seen)
		return
	}
	if seen[name] {
		r.errorf(r.at(l), problem.DuplicateName, "merge the sections", "the machine has two sections %s", name)
	}
	r.take(l, 1, withComment(text, comment))
	r.section(name, seen)
}

// section reads the lines that follow the first line of a section.
func (r reader) section(name string, seen map[string]bool) {
	seen[name] = true
	switch name {
	case "accepts":
		r.doc.Accepts = fieldReader(r).fields(2, r.doc.Accepts)
	case "responds with":
		r.doc.Responds = fieldReader(r).fields(2, r.doc.Responds)
	case "ensures":
		fieldReader(r).ensures()
	case "implements":
		r.steps()
	case "verifies":
		testReader(r).tests()
	}
}

// stray reads a line that is outside of all sections. If the line begins a step, the method reads
// the step as if it were in the section "implements". If the line is the misspelled keyword of a
// section, the method reads the following lines as lines of that section.
func (r reader) stray(l *line, text string, seen map[string]bool) {
	if h := stepHeader(l); h != nil && !seen["implements"] && spell.Name(h[1], stepKinds) != "" {
		r.errorf(r.at(l), problem.MissingKey, "write `implements` on the line above the step", "the step is outside of the section `implements`")
		seen["implements"] = true
		r.steps()
		return
	}
	hint := "the sections are: " + strings.Join(sections, ", ")
	near := spell.Name(text, sections)
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	r.errorf(r.at(l), problem.UnknownKey, hint, "the line %s is not the name of a section", problem.Quote(text))
	r.take(l, 1, "")
	r.section(near, seen)
}

// named checks a name.
func (r *source) named(n Name, what string) {
	switch {
	case strings.HasPrefix(n.Value, "<"):
		r.errorf(n.Position, problem.Placeholder, "replace the placeholder with a name", "the text %s is a placeholder", n.Value)
	case !nameRule().MatchString(n.Value), n.Value == "__proto__":
		r.errorf(n.Position, problem.BadName, "use up to 64 letters, digits and `_`, and do not begin with a digit", "the text %s is not a valid name of %s", problem.Quote(n.Value), what)
	}
}
