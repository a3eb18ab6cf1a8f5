package abl

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// Limits of expressions.
const (
	// MaxExprBytes is the maximum length of an expression.
	MaxExprBytes = 16 << 10
	// MaxDepth is the maximum nesting depth of brackets and calls in an expression, and of lines in
	// a file.
	MaxDepth = 32
	// MaxTextChars is the maximum number of characters of a text that an expression produces.
	MaxTextChars = 100_000
)

// Expr is a parsed expression. Expr is safe for concurrent use.
type Expr struct {
	text Text
	root node
}

// ParseExpr parses an expression. The error is a Problem. Its position is relative to the text.
func ParseExpr(text string) (*Expr, error) {
	e, mistake := parseExpr(Text{Position: Position{Line: 1, Column: 1}, Value: text})
	if mistake != nil {
		return nil, *mistake
	}
	return e, nil
}

// parseExpr parses a text that consists of exactly one expression.
func parseExpr(text Text) (*Expr, *problem.Problem) {
	e, rest, mistake := parsePrefix(text)
	if mistake != nil {
		return nil, mistake
	}
	if rest < len(text.Value) {
		return nil, unexpected(text, rest)
	}
	return e, nil
}

// parsePrefix parses the expression at the start of a text. The expression ends at BEFORE, at an
// arrow or at the end of the text. parsePrefix returns the offset at which the expression ends.
func parsePrefix(text Text) (*Expr, int, *problem.Problem) {
	if len(text.Value) > MaxExprBytes {
		p := problemAt(text.Position, problem.OverLimit, "divide the expression, and compute its parts with SET", "the expression is longer than %d bytes", MaxExprBytes)
		return nil, 0, &p
	}
	p := &exprParser{lex: lexer{text: text}, loc: locator{text: text}}
	root, mistake := p.whole()
	if mistake != nil {
		return nil, 0, mistake
	}
	e := &Expr{text: text, root: root}
	e.text.Value = strings.TrimSpace(text.Value[:p.tok.start])
	return e, p.tok.start, nil
}

// String returns the source of the expression.
func (e *Expr) String() string { return e.text.Value }

// Position returns the position of the expression in its file.
func (e *Expr) Position() Position { return e.text.Position }

// Reference is a name that an expression reads, such as "user.name" or "hotels".
type Reference struct {
	Position
	Path []string
}

// String returns the path as a text in which dots separate the names.
func (r Reference) String() string { return strings.Join(r.Path, ".") }

// References returns the names that the expression reads. Their order is the order in the source.
func (e *Expr) References() []Reference {
	var found []Reference
	walk(e.root, func(n node) {
		if p, ok := n.(*path); ok {
			found = append(found, Reference{Position: p.at, Path: p.names})
		}
	})
	return found
}

// constant returns the value of an expression that contains no names and no functions. If the
// expression contains a name or a function, or if its evaluation fails, the second result is false.
func (e *Expr) constant() (any, bool) {
	fixed := true
	walk(e.root, func(n node) {
		switch n.(type) {
		case *path, *call:
			fixed = false
		}
	})
	if !fixed {
		return nil, false
	}
	r, err := e.Eval(Variables(nil), Options{})
	return Plain(r.Value), err == nil
}
