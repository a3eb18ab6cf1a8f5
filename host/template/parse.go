package template

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// Error describes a mistake in a template.
type Error struct {
	// Line and Column are the position of the mistake. Line and Column start at 1. Columns are
	// counted in characters.
	Line, Column int
	// Message describes the mistake. Hint describes how to fix the mistake.
	Message string
	Hint    string
}

// Error returns the position and the message of the mistake, as in "3:14: the expression is not
// closed".
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

const (
	hintForms   = `write {{memory.<store>}}, {{memory.<store>.<path>}} or the path of a fact, such as {{user.language}}; write two literal braces as \{{`
	hintClose   = `close the braces with }}; write two literal braces as \{{`
	hintBraces  = `use two braces; put a space after a literal brace: { {{`
	hintBracket = `write an index, as in [0], or a name in double quotes, as in ["a name"]`
	hintUTF8    = `save the text as UTF-8`
	hintName    = `use letters, digits, _, - and $ in a name; write other names in brackets, as in ["a name"]`
)

// Parse parses a template. An error of Parse is of type *Error.
func Parse(text string) (*Template, error) {
	p := parser{text: text, mark: position{line: 1, column: 1}}
	if at := invalidUTF8(text); at >= 0 {
		return nil, p.errorf(at, hintUTF8, "the template is not valid UTF-8")
	}
	nodes, err := p.nodes()
	if err != nil {
		return nil, err
	}
	return &Template{nodes: nodes, maxBytes: DefaultMaxBytes}, nil
}

type parser struct {
	text string
	pos  int
	// mark is the position that was computed last. The next position is computed from "mark", so
	// that parsing takes linear time.
	mark position
}

// position is an offset in the text, with the line and the column of the offset.
type position struct{ offset, line, column int }

// nodes parses the text from the current offset to its end.
func (p *parser) nodes() ([]node, error) {
	var nodes []node
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			nodes = append(nodes, literal(text.String()))
			text.Reset()
		}
	}
	for {
		before, _, found := strings.Cut(p.text[p.pos:], "{{")
		p.pos += len(before)
		if !found {
			text.WriteString(before)
			flush()
			return nodes, nil
		}
		plain := strings.TrimRight(before, `\`)
		slashes := before[len(plain):]
		text.WriteString(plain + slashes[:len(slashes)/2])
		if len(slashes)%2 == 1 {
			text.WriteString("{{")
			p.take("{{")
			continue
		}
		flush()
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
}

// expression parses {{...}}. The first name of an expression determines the kind of the expression.
func (p *parser) expression() (node, error) {
	open := p.pos
	p.take("{{")
	if p.take("{") {
		return nil, p.errorf(open, hintBraces, "three opening braces")
	}
	p.space()
	first := p.pos
	namespace := p.name()
	if namespace == "" {
		return nil, p.unexpected(open)
	}
	path, dotted, err := p.path()
	if err != nil {
		return nil, err
	}
	p.space()
	if !p.take("}}") {
		return nil, p.unexpected(open)
	}
	if namespace == "memory" {
		return p.memory(first, path)
	}
	if strings.EqualFold(namespace, "memory") {
		return nil, p.errorf(first, hintForms, "the name %s is not available in templates", quote(namespace))
	}
	return p.fact(first, append([]string{namespace}, path...), dotted+1)
}

// memory returns a memory expression. The argument "at" is the start of the expression in the text,
// and "path" contains the steps after the word memory.
func (p *parser) memory(at int, path []string) (node, error) {
	if len(path) == 0 || path[0] == "" {
		return nil, p.errorf(at, hintForms, "the expression does not contain the name of a store")
	}
	line, column := p.place(at)
	return memoryRef{store: path[0], path: path[1:], line: line, column: column}, nil
}

// path parses the steps after a name: .name, .0, [0] and ["name"]. The result "dotted" is the
// number of steps before the first step in brackets.
func (p *parser) path() (steps []string, dotted int, err error) {
	bracketed := false
	for {
		var step string
		switch {
		case p.take("."):
			if step = p.name(); step == "" {
				err = p.errorf(p.pos, hintName, "a name is missing after the dot")
			}
		case p.take("["):
			bracketed = true
			step, err = p.bracket()
		default:
			return steps, dotted, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if steps = append(steps, step); !bracketed {
			dotted = len(steps)
		}
	}
}

// bracket parses a step in brackets after the opening bracket.
func (p *parser) bracket() (string, error) {
	at := p.pos
	step := p.while(func(r rune) bool { return '0' <= r && r <= '9' })
	ok := step != ""
	if !ok {
		step, ok = p.quoted()
	}
	if !ok || !p.take("]") {
		return "", p.errorf(at, hintBracket, "the brackets contain neither an index nor a name in quotes")
	}
	return step, nil
}

// quoted parses a JSON string.
func (p *parser) quoted() (string, bool) {
	if !strings.HasPrefix(p.text[p.pos:], `"`) {
		return "", false
	}
	end := p.pos + 1
	for end < len(p.text) && p.text[end] != '"' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(p.text))
	value, err := strictjson.Decode([]byte(p.text[p.pos:end]), strictjson.Limits{})
	p.pos = end
	text, ok := value.(string)
	return text, ok && err == nil
}

func (p *parser) name() string {
	return p.while(func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.M, unicode.Nd) || r == '_' || r == '-' || r == '$'
	})
}

func (p *parser) space() {
	p.while(func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
}

func (p *parser) while(in func(r rune) bool) string {
	rest := p.text[p.pos:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !in(r) })
	if end < 0 {
		end = len(rest)
	}
	p.pos += end
	return rest[:end]
}

func (p *parser) take(token string) bool {
	if !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

// unexpected returns the error for unexpected text at p.pos. The argument "open" is the start of
// the enclosing expression.
func (p *parser) unexpected(open int) *Error {
	inside, _, closed := strings.Cut(p.text[open+len("{{"):], "}}")
	if !closed || strings.Contains(inside, "{{") {
		return p.errorf(open, hintClose, "the expression is not closed")
	}
	return p.errorf(p.pos, hintForms, "the text %s is not an expression", quote(strings.TrimSpace(inside)))
}

func (p *parser) errorf(at int, hint, format string, args ...any) *Error {
	line, column := p.place(at)
	return &Error{Line: line, Column: column, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// place returns the line and column of an offset. Offsets must be requested in ascending order.
func (p *parser) place(offset int) (line, column int) {
	passed := p.text[p.mark.offset:offset]
	if newline := strings.LastIndexByte(passed, '\n'); newline >= 0 {
		p.mark.line += strings.Count(passed, "\n")
		p.mark.column = 1
		passed = passed[newline+1:]
	}
	p.mark.column += utf8.RuneCountInString(passed)
	p.mark.offset = offset
	return p.mark.line, p.mark.column
}

// invalidUTF8 returns the offset of the first byte that is not valid UTF-8, or -1.
func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// quote quotes text for a message and truncates long text.
func quote(text string) string {
	const maximum = 40
	if runes := []rune(text); len(runes) > maximum {
		text = string(runes[:maximum]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
