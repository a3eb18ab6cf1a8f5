package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// reserved contains the words that cannot be names of variables.
var reserved = []string{"AND", "OR", "NOT", "IN", "IS", "IMPLIES"}

// postfix parses an operand. Any number of ".name" and "[index]" can follow the operand.
func (p *exprParser) postfix() (node, *problem.Problem) {
	n, mistake := p.primary()
	for mistake == nil {
		at := p.position()
		switch {
		case p.tok.is("."):
			if mistake = p.advance(); mistake != nil {
				break
			}
			if p.tok.kind != tokenName {
				return nil, unexpectedToken(p.lex.text, p.tok)
			}
			n = &member{at: at, base: n, name: p.tok.text}
			mistake = p.advance()
		case p.tok.is("["):
			n, mistake = p.index(n, at)
		default:
			return n, nil
		}
	}
	return nil, mistake
}

// index parses an index in square brackets. The argument "base" is the operand before the brackets.
func (p *exprParser) index(base node, at Position) (node, *problem.Problem) {
	if mistake := p.advance(); mistake != nil {
		return nil, mistake
	}
	i, mistake := p.expression()
	if mistake != nil {
		return nil, mistake
	}
	return &member{at: at, base: base, index: i}, p.expect("]", "close the index with ]")
}

// primary parses a literal, a name, a call or an expression in brackets.
func (p *exprParser) primary() (node, *problem.Problem) {
	at := p.position()
	switch {
	case p.tok.kind == tokenNumber:
		n := &literal{at: at, value: p.tok.number}
		return n, p.advance()
	case p.tok.kind == tokenString:
		n := &literal{at: at, value: p.tok.text}
		return n, p.advance()
	case p.tok.kind == tokenName:
		return p.name()
	case p.tok.is("("):
		if mistake := p.advance(); mistake != nil {
			return nil, mistake
		}
		n, mistake := p.expression()
		if mistake != nil {
			return nil, mistake
		}
		return n, p.expect(")", "close the parenthesis with )")
	case p.tok.is("["):
		items, mistake := p.list("]")
		return &arrayNode{at: at, items: items}, mistake
	case p.tok.is("{"):
		return p.object()
	case p.tok.kind == tokenEnd:
		mistake := problemAt(at, problem.Syntax, "", "the expression is incomplete")
		return nil, &mistake
	default:
		return nil, unexpectedToken(p.lex.text, p.tok)
	}
}

// list parses a comma-separated list of expressions. Before the call, the current token is the
// opening bracket. A comma before the closing bracket is allowed.
func (p *exprParser) list(closing string) ([]node, *problem.Problem) {
	mistake := p.advance()
	var items []node
	for mistake == nil && !p.tok.is(closing) {
		var item node
		if item, mistake = p.expression(); mistake != nil {
			return nil, mistake
		}
		items = append(items, item)
		if p.tok.is(closing) {
			break
		}
		mistake = p.expect(",", "separate items with commas and close the list with "+closing)
	}
	if mistake != nil {
		return nil, mistake
	}
	return items, p.advance()
}

// object parses an object such as "{key: value}". A key of the object is a name or a text in
// quotes.
func (p *exprParser) object() (node, *problem.Problem) {
	n := &objectNode{at: p.position()}
	mistake := p.advance()
	for mistake == nil && !p.tok.is("}") {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			return nil, unexpectedToken(p.lex.text, p.tok)
		}
		if slices.Contains(n.keys, p.tok.text) {
			mistake := problemAt(p.position(), problem.DuplicateName, "remove one of the two keys", "the key %s occurs twice", problem.Quote(p.tok.text))
			return nil, &mistake
		}
		n.keys = append(n.keys, p.tok.text)
		if mistake = p.advance(); mistake != nil {
			return nil, mistake
		}
		if mistake = p.expect(":", "write an object as {key: value}"); mistake != nil {
			return nil, mistake
		}
		var value node
		if value, mistake = p.expression(); mistake != nil {
			return nil, mistake
		}
		n.values = append(n.values, value)
		if p.tok.is("}") {
			break
		}
		mistake = p.expect(",", "separate members with commas and close the object with }")
	}
	if mistake != nil {
		return nil, mistake
	}
	return n, p.advance()
}

var constants = map[string]any{"true": true, "false": false, "null": nil, "undefined": Undefined{}}

// name parses a constant, a dotted path or a call.
func (p *exprParser) name() (node, *problem.Problem) {
	at, start := p.position(), p.tok
	if slices.ContainsFunc(reserved, start.is) {
		hint := ""
		if start.is(opNot) {
			hint = "use parentheses: (NOT x)"
		}
		mistake := problemAt(at, problem.Syntax, hint, "unexpected %s", start.describe())
		return nil, &mistake
	}
	names := []string{start.text}
	if mistake := p.advance(); mistake != nil {
		return nil, mistake
	}
	for p.tok.is(".") {
		if mistake := p.advance(); mistake != nil {
			return nil, mistake
		}
		if p.tok.kind != tokenName {
			return nil, unexpectedToken(p.lex.text, p.tok)
		}
		names = append(names, p.tok.text)
		if mistake := p.advance(); mistake != nil {
			return nil, mistake
		}
	}
	if p.tok.is("(") {
		return p.call(at, names)
	}
	if value, ok := constants[strings.ToLower(start.text)]; ok && len(names) == 1 {
		return &literal{at: at, value: value}, nil
	}
	return &path{at: at, names: names}, nil
}

// call parses the arguments of a function call. The name of a function can contain dots. The
// argument "names" contains the names between these dots. The first of these names can be "abl".
func (p *exprParser) call(at Position, names []string) (node, *problem.Problem) {
	if len(names) > 1 && strings.EqualFold(names[0], "abl") {
		names = names[1:]
	}
	name := strings.ToUpper(strings.Join(names, "."))
	fn := lookupFunction(name)
	if fn == nil {
		mistake := problemAt(at, problem.UnknownName, hintFunction(name), "unknown function %s", name)
		return nil, &mistake
	}
	args, mistake := p.list(")")
	if mistake != nil {
		return nil, mistake
	}
	return newCall(at, fn, args)
}

// newCall returns a call. If the number of arguments is wrong, newCall returns a problem.
func newCall(at Position, fn *function, args []node) (node, *problem.Problem) {
	if len(args) < fn.min || fn.max >= 0 && len(args) > fn.max {
		mistake := problemAt(at, problem.Syntax, "write "+fn.usage, "the function %s takes %s, not %d", fn.name, fn.arity(), len(args))
		return nil, &mistake
	}
	return &call{at: at, fn: fn, args: args}, nil
}

// hintFunction returns a hint for a call to a function that does not exist.
func hintFunction(name string) string {
	if op, ok := comparisons[name]; ok {
		return "it is an operator: a " + op + " b"
	}
	if best := spell.Name(name, FunctionNames()); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
