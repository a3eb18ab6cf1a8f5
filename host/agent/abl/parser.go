package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/spell"
)

// exprParser parses an expression by recursive descent, one function per precedence.
type exprParser struct {
	lex   lexer
	loc   locator
	tok   token // the current token
	depth int
}

// The method "whole" parses an expression that ends at the end of the text, at BEFORE or at an
// arrow.
func (p *exprParser) whole() (node, *Problem) {
	if problem := p.advance(); problem != nil {
		return nil, problem
	}
	n, problem := p.expression()
	if problem != nil {
		return nil, problem
	}
	if p.tok.kind == tokenEnd || p.tok.is("BEFORE") || p.tok.is("->") {
		return n, nil
	}
	return nil, unexpectedToken(p.lex.text, p.tok)
}

func (p *exprParser) advance() *Problem {
	t, problem := p.lex.next()
	p.tok = t
	return problem
}

// take consumes the current token if it is the given word.
func (p *exprParser) take(word string) (bool, *Problem) {
	if !p.tok.is(word) {
		return false, nil
	}
	return true, p.advance()
}

// position returns the position of the current token.
func (p *exprParser) position() Position { return p.loc.at(p.tok.start) }

// nest counts a level of nesting. The caller must decrement p.depth afterwards.
func (p *exprParser) nest() *Problem {
	if p.depth++; p.depth > MaxDepth {
		problem := problemAt(p.position(), CodeOverLimit, "divide the expression, and compute its parts with SET", "the expression is nested deeper than %d levels", MaxDepth)
		return &problem
	}
	return nil
}

// expression parses any expression. The operator with the lowest precedence is the conditional a ?
// b : c.
func (p *exprParser) expression() (node, *Problem) {
	if problem := p.nest(); problem != nil {
		return nil, problem
	}
	defer func() { p.depth-- }()
	cond, problem := p.implication()
	if problem != nil || !p.tok.is("?") {
		return cond, problem
	}
	n := &conditional{at: p.position(), cond: cond}
	if problem = p.advance(); problem != nil {
		return nil, problem
	}
	if n.then, problem = p.expression(); problem != nil {
		return nil, problem
	}
	if problem = p.expect(":", "write a conditional as condition ? value : other"); problem != nil {
		return nil, problem
	}
	n.els, problem = p.expression()
	return n, problem
}

// implication parses a IMPLIES b, which associates to the right.
func (p *exprParser) implication() (node, *Problem) {
	l, problem := p.disjunction()
	if problem != nil || !p.tok.is(opImplies) {
		return l, problem
	}
	if problem = p.nest(); problem != nil {
		return nil, problem
	}
	defer func() { p.depth-- }()
	n := &binary{at: p.position(), op: opImplies, l: l}
	if problem = p.advance(); problem != nil {
		return nil, problem
	}
	n.r, problem = p.implication()
	return n, problem
}

// The operators that associate to the left, grouped by precedence, with their canonical
// spelling.
var (
	orOps      = map[string]string{"OR": opOr, "||": opOr}
	andOps     = map[string]string{"AND": opAnd, "&&": opAnd}
	sumOps     = map[string]string{"+": "+", "-": "-"}
	productOps = map[string]string{"*": "*", "/": "/", "%": "%"}
)

func (p *exprParser) disjunction() (node, *Problem) {
	return p.leftAssociative(orOps, p.conjunction)
}

func (p *exprParser) conjunction() (node, *Problem) {
	return p.leftAssociative(andOps, p.negation)
}

func (p *exprParser) sum() (node, *Problem) {
	return p.leftAssociative(sumOps, p.product)
}

func (p *exprParser) product() (node, *Problem) {
	return p.leftAssociative(productOps, p.prefix)
}

// leftAssociative parses operands of the next precedence between operators.
func (p *exprParser) leftAssociative(ops map[string]string, operand func() (node, *Problem)) (node, *Problem) {
	l, problem := operand()
	for problem == nil && (p.tok.kind == tokenName || p.tok.kind == tokenSymbol) {
		op, ok := ops[strings.ToUpper(p.tok.text)]
		if !ok {
			break
		}
		n := &binary{at: p.position(), op: op, l: l}
		if problem = p.advance(); problem != nil {
			break
		}
		n.r, problem = operand()
		l = n
	}
	return l, problem
}

// negation parses NOT a, whose precedence is lower than the precedence of comparisons.
func (p *exprParser) negation() (node, *Problem) {
	if !p.tok.is(opNot) {
		return p.comparison()
	}
	if problem := p.nest(); problem != nil {
		return nil, problem
	}
	defer func() { p.depth-- }()
	n := &unary{at: p.position(), op: opNot}
	problem := p.advance()
	if problem == nil {
		n.x, problem = p.negation()
	}
	return n, problem
}

// comparisons maps the binary comparison operators to their canonical spelling.
var comparisons = map[string]string{
	"==": opEqual, "!=": opNotEqual, "<": opLess, "<=": opLessEq, ">": opGreater, ">=": opGreaterEq,
	"IN": opIn, "MATCHES": opMatches, "CONTAINS": opContains, "STARTSWITH": opStarts, "ENDSWITH": opEnds,
}

// comparison parses at most one comparison, because comparisons do not associate.
func (p *exprParser) comparison() (node, *Problem) {
	l, problem := p.sum()
	if problem != nil {
		return nil, problem
	}
	n, problem := p.compare(l)
	if problem != nil || n == nil {
		return l, problem
	}
	if p.comparesNext() {
		problem := problemAt(p.position(), CodeSyntax, "combine comparisons with AND, or use parentheses", "a comparison cannot follow a comparison")
		return nil, &problem
	}
	return n, nil
}

// comparesNext reports whether the current token is a comparison operator.
func (p *exprParser) comparesNext() bool {
	if p.tok.kind != tokenName && p.tok.kind != tokenSymbol {
		return false
	}
	_, ok := comparisons[strings.ToUpper(p.tok.text)]
	return ok || p.tok.is("IS") || p.tok.is(opNot)
}

// compare parses a comparison operator and its right operand. The argument l is the left operand.
// If no comparison operator follows, compare returns nil.
func (p *exprParser) compare(l node) (node, *Problem) {
	at := p.position()
	switch {
	case p.tok.is("IS"):
		return p.isSet(l)
	case p.tok.is(opIsNumber):
		return &unary{at: at, op: opIsNumber, x: l}, p.advance()
	case p.tok.is(opNot):
		if problem := p.advance(); problem != nil {
			return nil, problem
		}
		if problem := p.expect(opIn, "write NOT before the whole comparison, or x NOT IN [...]"); problem != nil {
			return nil, problem
		}
		r, problem := p.sum()
		return &binary{at: at, op: opNotIn, l: l, r: r}, problem
	}
	op, ok := comparisons[strings.ToUpper(p.tok.text)]
	if !ok || p.tok.kind != tokenName && p.tok.kind != tokenSymbol {
		return nil, nil
	}
	if problem := p.advance(); problem != nil {
		return nil, problem
	}
	if p.tok.kind == tokenString && isSetText(p.tok.text) {
		problem := problemAt(p.position(), CodeSyntax, hintIsSet, "a comparison with the text %s is always a mistake", quote(p.tok.text))
		return nil, &problem
	}
	r, problem := p.sum()
	if problem != nil {
		return nil, problem
	}
	return &binary{at: at, op: op, l: l, r: r}, p.pattern(op, r)
}

const hintIsSet = "IS SET is written without quotes: name IS SET"

func isSetText(text string) bool {
	return slices.Contains([]string{opIsSet, opIsNotSet, "SET", "NOT SET"}, strings.ToUpper(strings.Join(strings.Fields(text), " ")))
}

// isSet parses IS SET or IS NOT SET after the operand l.
func (p *exprParser) isSet(l node) (node, *Problem) {
	n := &unary{at: p.position(), op: opIsSet, x: l}
	if problem := p.advance(); problem != nil {
		return nil, problem
	}
	not, problem := p.take(opNot)
	if problem != nil {
		return nil, problem
	}
	if not {
		n.op = opIsNotSet
	}
	return n, p.expect("SET", "write IS SET or IS NOT SET; compare values with ==")
}

// pattern reports a mistake in a constant regular expression.
func (p *exprParser) pattern(op string, r node) *Problem {
	text, ok := r.(*literal)
	if op != opMatches || !ok {
		return nil
	}
	s, _ := text.value.(string)
	if err := checkPattern(s); err != nil {
		problem := problemAt(text.at, CodeSyntax, "patterns have the syntax of RE2", "%s is not a valid pattern: %v", quote(s), err)
		return &problem
	}
	return nil
}

// prefix parses !a and -a.
func (p *exprParser) prefix() (node, *Problem) {
	op := ""
	switch {
	case p.tok.is("!"):
		op = opNot
	case p.tok.is("-"):
		op = opNegate
	default:
		return p.postfix()
	}
	if problem := p.nest(); problem != nil {
		return nil, problem
	}
	defer func() { p.depth-- }()
	n := &unary{at: p.position(), op: op}
	problem := p.advance()
	if problem == nil {
		n.x, problem = p.prefix()
	}
	return n, problem
}

// expect consumes the given word, or reports that the word is missing.
func (p *exprParser) expect(word, hint string) *Problem {
	ok, problem := p.take(word)
	if problem != nil || ok {
		return problem
	}
	missing := problemAt(p.position(), CodeSyntax, hint, "expected %s instead of %s", quote(word), p.tok.describe())
	return &missing
}

// unexpected returns the problem for a token that cannot continue the expression.
func unexpected(text Text, offset int) *Problem {
	l := lexer{text: text, pos: offset}
	t, problem := l.next()
	if problem != nil {
		return problem
	}
	return unexpectedToken(text, t)
}

func unexpectedToken(text Text, t token) *Problem {
	hint := ""
	switch {
	case t.kind == tokenString && isSetText(t.text):
		hint = hintIsSet
	case t.is("="):
		hint = "compare with =="
	case t.is("==="):
		hint = "write =="
	case t.is("!=="):
		hint = "write !="
	case t.is("->"):
		hint = "an arrow is only allowed in STORE: value -> path"
	case t.kind == tokenName:
		if best := spell.Name(t.text, operatorNames); best != "" {
			hint = "did you mean " + best + "?"
		}
	}
	problem := problemAt(text.at(t.start), CodeSyntax, hint, "unexpected %s", t.describe())
	return &problem
}

var operatorNames = []string{opAnd, opOr, opNot, opIn, "IS SET", opImplies, opMatches, opContains, opStarts, opEnds}
