package abl

import (
	"strings"
	"unicode"

	"github.com/toolrun/toolrun/host/problem"
)

const hintBraces = "write {{name}}, or \\{{ for two literal braces"

// templateParser parses a template into parts.
type templateParser struct {
	text  Text
	loc   locator
	pos   int
	parts []part      // the parts of the innermost block
	open  []openBlock // the blocks that are not closed yet
	out   *Template
}

// openBlock is a block whose end tag has not been read yet.
type openBlock struct {
	offset int
	block  part
	before []part // the parts before the block
	inElse bool
}

func parseTemplate(text Text) (*Template, *problem.Problem) {
	p := &templateParser{text: text, loc: locator{text: text}, out: &Template{text: text}}
	for p.pos < len(text.Value) {
		if mistake := p.next(); mistake != nil {
			return nil, mistake
		}
	}
	if len(p.open) > 0 {
		block := p.open[len(p.open)-1]
		return nil, p.problem(block.offset, "close the block with {{/"+block.block.block+"}}", "the block {{#%s}} is not closed", block.block.block)
	}
	p.out.parts = p.parts
	return p.out, nil
}

func (p *templateParser) problem(offset int, hint, format string, args ...any) *problem.Problem {
	mistake := problemAt(p.text.at(offset), problem.BadTemplate, hint, format, args...)
	return &mistake
}

func (p *templateParser) literal(s string) {
	if s != "" {
		p.parts = append(p.parts, part{literal: s})
	}
}

// The method "next" parses the text up to the next pair of braces. The method "next" also parses
// the expression or tag in these braces.
func (p *templateParser) next() *problem.Problem {
	s := p.text.Value
	i := strings.Index(s[p.pos:], "{{")
	if i < 0 {
		p.literal(s[p.pos:])
		p.pos = len(s)
		return nil
	}
	open := p.pos + i
	if i > 0 && s[open-1] == '\\' {
		p.literal(s[p.pos:open-1] + "{{")
		p.pos = open + 2
		return nil
	}
	end := closingBraces(s, open+2)
	if end < 0 {
		return p.problem(open, hintBraces, "the braces {{ are not closed")
	}
	body := strings.TrimLeft(s[open+2:end], " \t\r\n")
	start := end - len(body)
	body = strings.TrimRight(body, " \t\r\n")
	before := s[p.pos:open]
	p.pos = end + 2
	if body != "else" && !strings.HasPrefix(body, "#") && !strings.HasPrefix(body, "/") {
		p.literal(before)
		return p.expression(start, body)
	}
	p.literal(p.standalone(before, open))
	switch {
	case body == "else":
		return p.elseTag(open)
	case body[0] == '/':
		return p.endTag(open, strings.TrimSpace(body[1:]))
	default:
		return p.startTag(open, start, body)
	}
}

// closingBraces returns the offset of the braces that close an expression. If there are none, the
// result is -1.
func closingBraces(s string, i int) int {
	depth := 0
	for quote := byte(0); i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case strings.HasPrefix(s[i:], "}}"):
			return i
		}
	}
	return -1
}

// standalone returns the text before a tag. If the line contains only the tag, standalone removes
// the line from the output: it removes the indentation from the returned text, and skips the line
// break after the tag.
func (p *templateParser) standalone(before string, open int) string {
	s := p.text.Value
	trimmed := strings.TrimRight(before, " \t")
	lineStart := open - (len(before) - len(trimmed))
	rest := strings.TrimLeft(s[p.pos:], " \t\r")
	if lineStart > 0 && s[lineStart-1] != '\n' || rest != "" && rest[0] != '\n' {
		return before
	}
	p.out.trimEnd = rest == ""
	p.pos = min(len(s)-len(rest)+1, len(s))
	return trimmed
}

// expression parses an expression in braces. A call without parentheses, such as "add @index 1", is
// also an expression.
func (p *templateParser) expression(start int, body string) *problem.Problem {
	if body == "" || body[0] == '{' {
		return p.problem(start, hintBraces, "the braces contain no expression")
	}
	e, mistake := p.parse(start, body)
	if mistake == nil {
		p.parts = append(p.parts, part{expr: e})
	}
	return mistake
}

func (p *templateParser) parse(start int, body string) (*Expr, *problem.Problem) {
	text := Text{Position: p.loc.at(start), Value: body, Indent: p.text.Indent}
	if len(body) > MaxExprBytes {
		return parseExpr(text) // reports that the expression is too long
	}
	parser := &exprParser{lex: lexer{text: text, at: true}, loc: locator{text: text}}
	root, mistake := parser.helper()
	if mistake != nil {
		mistake.Code = problem.BadTemplate
		return nil, mistake
	}
	return &Expr{text: text, root: root}, nil
}

// helper parses an expression or a call without parentheses. Such a call is the name of a function,
// followed by arguments that are separated by spaces.
func (p *exprParser) helper() (node, *problem.Problem) {
	first := word(p.lex.text.Value)
	fn := lookupFunction(strings.ToUpper(first))
	rest := p.lex.text.Value[len(first):]
	arg := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if fn == nil || arg == rest || arg == "" || !strings.ContainsRune("@\"'-", rune(arg[0])) && !isNamePart(rune(arg[0])) || isOperator(arg) {
		n, mistake := p.whole()
		if mistake == nil && p.tok.kind != tokenEnd {
			mistake = unexpectedToken(p.lex.text, p.tok)
		}
		return n, mistake
	}
	at := p.lex.text.Position
	p.lex.pos = len(first)
	mistake := p.advance()
	var args []node
	for mistake == nil && p.tok.kind != tokenEnd {
		var n node
		if n, mistake = p.prefix(); mistake == nil {
			args = append(args, n)
		}
	}
	if mistake != nil {
		return nil, mistake
	}
	return newCall(at, fn, args)
}

// isOperator reports whether a text starts with an operator. Such a text continues the expression
// before it.
func isOperator(text string) bool {
	name := strings.ToUpper(word(text))
	_, ok := comparisons[name]
	return ok || name == "AND" || name == "OR" || name == "NOT" || name == "IS" || name == opImplies || strings.HasPrefix(text, "- ")
}

// startTag opens a block such as "{{#each list}}" or "{{#if condition}}".
func (p *templateParser) startTag(open, start int, body string) *problem.Problem {
	kind := word(body[1:])
	if kind != "each" && kind != "if" {
		return p.problem(open, "use {{#each list}} or {{#if condition}}", "unknown block %s", problem.Quote("#"+kind))
	}
	if len(p.open) >= MaxDepth {
		return p.problem(open, "", "blocks are nested deeper than %d levels", MaxDepth)
	}
	source := strings.TrimLeft(body[1+len(kind):], " \t\r\n")
	e, mistake := p.parse(start+len(body)-len(source), source)
	if mistake != nil {
		return mistake
	}
	p.open = append(p.open, openBlock{offset: open, block: part{expr: e, block: kind}, before: p.parts})
	p.parts = nil
	return nil
}

func (p *templateParser) elseTag(open int) *problem.Problem {
	if len(p.open) == 0 || p.open[len(p.open)-1].inElse {
		return p.problem(open, "write {{else}} between {{#if x}} and {{/if}}", "{{else}} does not belong to a block")
	}
	block := &p.open[len(p.open)-1]
	block.block.body, block.inElse, p.parts = p.parts, true, nil
	return nil
}

// endTag closes the innermost block.
func (p *templateParser) endTag(open int, kind string) *problem.Problem {
	if len(p.open) == 0 || p.open[len(p.open)-1].block.block != kind {
		return p.problem(open, "close the innermost block first", "{{/%s}} does not close a block", kind)
	}
	last := p.open[len(p.open)-1]
	if last.inElse {
		last.block.other = p.parts
	} else {
		last.block.body = p.parts
	}
	p.parts = append(last.before, last.block)
	p.open = p.open[:len(p.open)-1]
	return nil
}
