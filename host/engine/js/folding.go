package js

import (
	"errors"

	"github.com/dop251/goja/ast"
)

// maxUnfolded is how many nodes of a tree are visited to keep constants as they are written: more than a tool of the
// largest size has.
const maxUnfolded = 32_000_000

var errTooManyParts = errors.New("the code has too many parts")

// unfold keeps goja's compiler from computing what the code asks for: it folds constants, and 2n ** 100_000_000n is one,
// as is a text that doubles. The left side of an operator that is a literal is put into a sequence of one, which is
// compiled to the same code and is no constant to the compiler; so no operator has constants on both sides.
func unfold(tree *ast.Program) error {
	w := walker{maxUnfolded}
	w.walk(tree.Body, func(node any) bool {
		if b, ok := node.(*ast.BinaryExpression); ok && mayBeConstant(b.Left) {
			b.Left = &ast.SequenceExpression{Sequence: []ast.Expression{b.Left}}
		}
		return true
	})
	if w.left < 0 {
		return errTooManyParts
	}
	return nil
}

// mayBeConstant reports whether an operand may be a constant to the compiler. One with a binary operator in it is none once
// that is unfolded.
func mayBeConstant(e ast.Expression) bool {
	switch e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.UnaryExpression:
		return true
	}
	return false
}
