package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/spell"
)

// The variable "reserved" contains the words that cannot be names of variables.
var reserved = []string{"AND", "OR", "NOT", "IN", "IS", "IMPLIES"}

// postfix parses an operand followed by .name and [index].
func (p *exprParser) postfix() (node, *Problem) {
	n, problem := p.primary()
	for problem == nil {
		at := p.position()
		switch {
		case p.tok.is("."):
			if problem = p.advance(); problem != nil {
				break
			}
			if p.tok.kind != tokenName {
				return nil, unexpectedToken(p.lex.text, p.tok)
			}
			n = &member{at: at, base: n, name: p.tok.text}
			problem = p.advance()
		case p.tok.is("["):
			n, problem = p.index(n, at)
		default:
			return n, nil
		}
	}
	return nil, problem
}

// index parses [expression] after base.
func (p *exprParser) index(base node, at Position) (node, *Problem) {
	if problem := p.advance(); problem != nil {
		return nil, problem
	}
	i, problem := p.expression()
	if problem != nil {
		return nil, problem
	}
	return &member{at: at, base: base, index: i}, p.expect("]", "close the index with ]")
}

// primary parses a literal, a name, a call or an expression in brackets.
func (p *exprParser) primary() (node, *Problem) {
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
		if problem := p.advance(); problem != nil {
			return nil, problem
		}
		n, problem := p.expression()
		if problem != nil {
			return nil, problem
		}
		return n, p.expect(")", "close the parenthesis with )")
	case p.tok.is("["):
		items, problem := p.list("]")
		return &arrayNode{at: at, items: items}, problem
	case p.tok.is("{"):
		return p.object()
	case p.tok.kind == tokenEnd:
		problem := problemAt(at, CodeSyntax, "", "the expression is incomplete")
		return nil, &problem
	default:
		return nil, unexpectedToken(p.lex.text, p.tok)
	}
}

// list parses a comma-separated list of expressions. The current token is the opening bracket. A
// comma before the closing bracket is allowed.
func (p *exprParser) list(closing string) ([]node, *Problem) {
	problem := p.advance()
	var items []node
	for problem == nil && !p.tok.is(closing) {
		var item node
		if item, problem = p.expression(); problem != nil {
			return nil, problem
		}
		items = append(items, item)
		if p.tok.is(closing) {
			break
		}
		problem = p.expect(",", "separate items with commas and close the list with "+closing)
	}
	if problem != nil {
		return nil, problem
	}
	return items, p.advance()
}

// object parses {key: value, ...}. A key is a name or quoted text.
func (p *exprParser) object() (node, *Problem) {
	n := &objectNode{at: p.position()}
	problem := p.advance()
	for problem == nil && !p.tok.is("}") {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			return nil, unexpectedToken(p.lex.text, p.tok)
		}
		if slices.Contains(n.keys, p.tok.text) {
			problem := problemAt(p.position(), CodeDuplicate, "remove one of them", "the key %s occurs twice", quote(p.tok.text))
			return nil, &problem
		}
		n.keys = append(n.keys, p.tok.text)
		if problem = p.advance(); problem != nil {
			return nil, problem
		}
		if problem = p.expect(":", "write an object as {key: value}"); problem != nil {
			return nil, problem
		}
		var value node
		if value, problem = p.expression(); problem != nil {
			return nil, problem
		}
		n.values = append(n.values, value)
		if p.tok.is("}") {
			break
		}
		problem = p.expect(",", "separate members with commas and close the object with }")
	}
	if problem != nil {
		return nil, problem
	}
	return n, p.advance()
}

var constants = map[string]any{"true": true, "false": false, "null": nil, "undefined": Undefined{}}

// name parses a constant, a dotted path or a call.
func (p *exprParser) name() (node, *Problem) {
	at, start := p.position(), p.tok
	if slices.ContainsFunc(reserved, start.is) {
		hint := ""
		if start.is(opNot) {
			hint = "use parentheses: (NOT x)"
		}
		problem := problemAt(at, CodeSyntax, hint, "unexpected %s", start.describe())
		return nil, &problem
	}
	names := []string{start.text}
	if problem := p.advance(); problem != nil {
		return nil, problem
	}
	for p.tok.is(".") {
		if problem := p.advance(); problem != nil {
			return nil, problem
		}
		if p.tok.kind != tokenName {
			return nil, unexpectedToken(p.lex.text, p.tok)
		}
		names = append(names, p.tok.text)
		if problem := p.advance(); problem != nil {
			return nil, problem
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

// call parses the arguments of a function call. The argument "names" contains the parts of the
// function's dotted name. The first part can be "abl".
func (p *exprParser) call(at Position, names []string) (node, *Problem) {
	if len(names) > 1 && strings.EqualFold(names[0], "abl") {
		names = names[1:]
	}
	name := strings.ToUpper(strings.Join(names, "."))
	fn := lookupFunction(name)
	if fn == nil {
		problem := problemAt(at, CodeUnknown, hintFunction(name), "there is no function %s", name)
		return nil, &problem
	}
	args, problem := p.list(")")
	if problem != nil {
		return nil, problem
	}
	return newCall(at, fn, args)
}

// newCall returns a call, or a problem if the number of arguments is wrong.
func newCall(at Position, fn *function, args []node) (node, *Problem) {
	if len(args) < fn.min || fn.max >= 0 && len(args) > fn.max {
		problem := problemAt(at, CodeSyntax, "write "+fn.usage, "%s takes %s, not %d", fn.name, fn.arity(), len(args))
		return nil, &problem
	}
	return &call{at: at, fn: fn, args: args}, nil
}

// hintFunction returns a hint for a function that does not exist.
func hintFunction(name string) string {
	if op, ok := comparisons[name]; ok {
		return "it is an operator: a " + op + " b"
	}
	if best := spell.Name(name, FunctionNames()); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
