package bundle

import "strings"

// importSpan is a static import declaration at the top level of a file. importSpan contains the
// byte offsets of the declaration and the names that it declares.
type importSpan struct {
	start, end int
	names      []string
}

// importDeclaration processes one token of a static import. The scanner calls importDeclaration for
// each token after the keyword "import".
func (s *scanner) importDeclaration(t token) {
	d := s.importing
	if d == nil {
		return
	}
	text, top := s.text(t), len(s.frames) == 1
	switch {
	case s.prev.start == d.start && (text == "(" || text == "."): // import(...), import.meta
		s.importing = nil
	case t.kind == end, top && s.endsImport(t, text):
		d.end = s.prev.end
		if text == ";" {
			d.end = t.end
		}
		s.found.imports = append(s.found.imports, *d)
		s.importing = nil
	case top && t.kind == literal:
		s.named = true
	case text == "as" && len(d.names) > 0 && s.prev.kind == word:
		d.names = d.names[:len(d.names)-1] // the removed name belongs to the imported module
	case t.kind == word && !s.named && !importWords[text]:
		d.names = append(d.names, text)
	}
}

// endsImport reports whether an import ends at the token t. t is either the import's semicolon or
// the first token after the import.
func (s *scanner) endsImport(t token, text string) bool {
	switch {
	case text == ";":
		return true
	case s.named:
		attributes := text == "with" || text == "assert"
		return !attributes && !(text == "{" && s.prev.kind == word)
	}
	return t.newline && t.kind == word && s.afterOperand() && !infix[text] && !prefix[s.text(s.prev)]
}

// hoist splits a body into its imports and the rest. Both texts keep the lines and columns of the
// original: blank space replaces the other part.
func hoist(code string, imports []importSpan) (declarations, rest string) {
	if len(imports) == 0 {
		return "", code
	}
	var d, r strings.Builder
	at := 0
	for _, span := range imports {
		d.WriteString(blank(code[at:span.start]))
		r.WriteString(code[at:span.start])
		d.WriteString(code[span.start:span.end])
		r.WriteString(blank(code[span.start:span.end]))
		at = span.end
	}
	d.WriteString(blank(code[at:]))
	r.WriteString(code[at:])
	return d.String(), r.String()
}

// blank returns white space. The white space has the same line breaks and the same number of UTF-16
// code units as s.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case isLineEnd(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}
