package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// exprParser is a recursive descent parser for expressions. exprParser has one method for each
// level of precedence.
type exprParser struct {
	lex   lexer
	loc   locator
	tok   token // the current token
	depth int
}

// whole parses an expression. The expression must end at the end of the text, at BEFORE or at an
// arrow.
func (p *exprParser) whole() (node, *problem.Problem) {
	if mistake := p.advance(); mistake != nil {
		return nil, mistake
	}
	n, mistake := p.expression()
	if mistake != nil {
		return nil, mistake
	}
	if p.tok.kind == tokenEnd || p.tok.is("BEFORE") || p.tok.is("->") {
		return n, nil
	}
	return nil, unexpectedToken(p.lex.text, p.tok)
}

func (p *exprParser) advance() *problem.Problem {
	t, mistake := p.lex.next()
	p.tok = t
	return mistake
}

// take consumes the current token if this token is the given word.
func (p *exprParser) take(word string) (bool, *problem.Problem) {
	if !p.tok.is(word) {
		return false, nil
	}
	return true, p.advance()
}

// position returns the position of the current token.
func (p *exprParser) position() Position { return p.loc.at(p.tok.start) }

// nest increments the depth of nesting. The caller must decrement p.depth afterwards.
func (p *exprParser) nest() *problem.Problem {
	if p.depth++; p.depth > MaxDepth {
		mistake := problemAt(p.position(), problem.OverLimit, "divide the expression, and compute its parts with SET", "the expression is nested deeper than %d levels", MaxDepth)
		return &mistake
	}
	return nil
}

// expression parses any expression. The conditional "a ? b : c" is the operator that has the lowest
// precedence.
func (p *exprParser) expression() (node, *problem.Problem) {
	if mistake := p.nest(); mistake != nil {
		return nil, mistake
	}
	defer func() { p.depth-- }()
	cond, mistake := p.implication()
	if mistake != nil || !p.tok.is("?") {
		return cond, mistake
	}
	n := &conditional{at: p.position(), cond: cond}
	if mistake = p.advance(); mistake != nil {
		return nil, mistake
	}
	if n.then, mistake = p.expression(); mistake != nil {
		return nil, mistake
	}
	if mistake = p.expect(":", "write a conditional as condition ? value : other"); mistake != nil {
		return nil, mistake
	}
	n.els, mistake = p.expression()
	return n, mistake
}

// implication parses the operator IMPLIES. This operator associates to the right.
func (p *exprParser) implication() (node, *problem.Problem) {
	l, mistake := p.disjunction()
	if mistake != nil || !p.tok.is(opImplies) {
		return l, mistake
	}
	if mistake = p.nest(); mistake != nil {
		return nil, mistake
	}
	defer func() { p.depth-- }()
	n := &binary{at: p.position(), op: opImplies, l: l}
	if mistake = p.advance(); mistake != nil {
		return nil, mistake
	}
	n.r, mistake = p.implication()
	return n, mistake
}

// Each of these maps contains the operators of one precedence. They associate to the left. The
// value is the canonical spelling of an operator.
var (
	orOps      = map[string]string{"OR": opOr, "||": opOr}
	andOps     = map[string]string{"AND": opAnd, "&&": opAnd}
	sumOps     = map[string]string{"+": "+", "-": "-"}
	productOps = map[string]string{"*": "*", "/": "/", "%": "%"}
)

func (p *exprParser) disjunction() (node, *problem.Problem) {
	return p.leftAssociative(orOps, p.conjunction)
}

func (p *exprParser) conjunction() (node, *problem.Problem) {
	return p.leftAssociative(andOps, p.negation)
}

func (p *exprParser) sum() (node, *problem.Problem) {
	return p.leftAssociative(sumOps, p.product)
}

func (p *exprParser) product() (node, *problem.Problem) {
	return p.leftAssociative(productOps, p.prefix)
}

// leftAssociative parses a sequence of operators that have the same precedence. Their operands have
// a higher precedence.
func (p *exprParser) leftAssociative(ops map[string]string, operand func() (node, *problem.Problem)) (node, *problem.Problem) {
	l, mistake := operand()
	for mistake == nil && (p.tok.kind == tokenName || p.tok.kind == tokenSymbol) {
		op, ok := ops[strings.ToUpper(p.tok.text)]
		if !ok {
			break
		}
		n := &binary{at: p.position(), op: op, l: l}
		if mistake = p.advance(); mistake != nil {
			break
		}
		n.r, mistake = operand()
		l = n
	}
	return l, mistake
}

// negation parses the operator NOT. The operator NOT has a lower precedence than a comparison.
func (p *exprParser) negation() (node, *problem.Problem) {
	if !p.tok.is(opNot) {
		return p.comparison()
	}
	if mistake := p.nest(); mistake != nil {
		return nil, mistake
	}
	defer func() { p.depth-- }()
	n := &unary{at: p.position(), op: opNot}
	mistake := p.advance()
	if mistake == nil {
		n.x, mistake = p.negation()
	}
	return n, mistake
}

// comparisons maps each spelling of a binary comparison operator to the canonical spelling.
var comparisons = map[string]string{
	"==": opEqual, "!=": opNotEqual, "<": opLess, "<=": opLessEq, ">": opGreater, ">=": opGreaterEq,
	"IN": opIn, "MATCHES": opMatches, "CONTAINS": opContains, "STARTSWITH": opStarts, "ENDSWITH": opEnds,
}

// comparison parses at most one comparison. A chain such as "a < b < c" is not allowed.
func (p *exprParser) comparison() (node, *problem.Problem) {
	l, mistake := p.sum()
	if mistake != nil {
		return nil, mistake
	}
	n, mistake := p.compare(l)
	if mistake != nil || n == nil {
		return l, mistake
	}
	if p.comparesNext() {
		mistake := problemAt(p.position(), problem.Syntax, "combine comparisons with AND, or use parentheses", "a comparison cannot follow a comparison")
		return nil, &mistake
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

// compare parses a comparison operator and its right operand. The argument "l" is the left operand.
// If the current token is not a comparison operator, compare returns nil.
func (p *exprParser) compare(l node) (node, *problem.Problem) {
	at := p.position()
	switch {
	case p.tok.is("IS"):
		return p.isSet(l)
	case p.tok.is(opIsNumber):
		return &unary{at: at, op: opIsNumber, x: l}, p.advance()
	case p.tok.is(opNot):
		if mistake := p.advance(); mistake != nil {
			return nil, mistake
		}
		if mistake := p.expect(opIn, "write NOT before the whole comparison, or x NOT IN [...]"); mistake != nil {
			return nil, mistake
		}
		r, mistake := p.sum()
		return &binary{at: at, op: opNotIn, l: l, r: r}, mistake
	}
	op, ok := comparisons[strings.ToUpper(p.tok.text)]
	if !ok || p.tok.kind != tokenName && p.tok.kind != tokenSymbol {
		return nil, nil
	}
	if mistake := p.advance(); mistake != nil {
		return nil, mistake
	}
	if p.tok.kind == tokenString && isSetText(p.tok.text) {
		mistake := problemAt(p.position(), problem.Syntax, hintIsSet, "the condition compares with the text %s instead of using the operator IS SET or IS NOT SET", problem.Quote(p.tok.text))
		return nil, &mistake
	}
	r, mistake := p.sum()
	if mistake != nil {
		return nil, mistake
	}
	return &binary{at: at, op: op, l: l, r: r}, p.pattern(op, r)
}

const hintIsSet = "IS SET is written without quotes: name IS SET"

func isSetText(text string) bool {
	return slices.Contains([]string{opIsSet, opIsNotSet, "SET", "NOT SET"}, strings.ToUpper(strings.Join(strings.Fields(text), " ")))
}

// isSet parses IS SET or IS NOT SET. The argument "l" is the operand that precedes these words.
func (p *exprParser) isSet(l node) (node, *problem.Problem) {
	n := &unary{at: p.position(), op: opIsSet, x: l}
	if mistake := p.advance(); mistake != nil {
		return nil, mistake
	}
	not, mistake := p.take(opNot)
	if mistake != nil {
		return nil, mistake
	}
	if not {
		n.op = opIsNotSet
	}
	return n, p.expect("SET", "write IS SET or IS NOT SET; compare values with ==")
}

// pattern reports a mistake in a regular expression, if the expression is a constant.
func (p *exprParser) pattern(op string, r node) *problem.Problem {
	text, ok := r.(*literal)
	if op != opMatches || !ok {
		return nil
	}
	s, _ := text.value.(string)
	if err := checkPattern(s); err != nil {
		mistake := problemAt(text.at, problem.Syntax, "write the pattern in the syntax of RE2", "%s is not a valid pattern: %v", problem.Quote(s), err)
		return &mistake
	}
	return nil
}

// prefix parses an operand and the operators "!" and "-" before it.
func (p *exprParser) prefix() (node, *problem.Problem) {
	op := ""
	switch {
	case p.tok.is("!"):
		op = opNot
	case p.tok.is("-"):
		op = opNegate
	default:
		return p.postfix()
	}
	if mistake := p.nest(); mistake != nil {
		return nil, mistake
	}
	defer func() { p.depth-- }()
	n := &unary{at: p.position(), op: op}
	mistake := p.advance()
	if mistake == nil {
		n.x, mistake = p.prefix()
	}
	return n, mistake
}

// expect consumes the given word. If the current token is another word, the method reports that the
// given word is missing.
func (p *exprParser) expect(word, hint string) *problem.Problem {
	ok, mistake := p.take(word)
	if mistake != nil || ok {
		return mistake
	}
	missing := problemAt(p.position(), problem.Syntax, hint, "expected %s instead of %s", problem.Quote(word), p.tok.describe())
	return &missing
}

// unexpected returns a problem for a token that cannot follow in the expression.
func unexpected(text Text, offset int) *problem.Problem {
	l := lexer{text: text, pos: offset}
	t, mistake := l.next()
	if mistake != nil {
		return mistake
	}
	return unexpectedToken(text, t)
}

func unexpectedToken(text Text, t token) *problem.Problem {
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
		hint = "an arrow is only allowed in `STORE: value -> path`"
	case t.kind == tokenName:
		if best := spell.Name(t.text, operatorNames); best != "" {
			hint = "did you mean " + best + "?"
		}
	}
	mistake := problemAt(text.at(t.start), problem.Syntax, hint, "unexpected %s", t.describe())
	return &mistake
}

var operatorNames = []string{opAnd, opOr, opNot, opIn, "IS SET", opImplies, opMatches, opContains, opStarts, opEnds}
