package js

import (
	"errors"

	"github.com/dop251/goja/ast"
)

// maxUnfolded is the number of nodes that a rewrite visits; the largest possible tool has fewer.
const maxUnfolded = 32_000_000

var errTooManyParts = errors.New("the code has too many syntax nodes")

// unfold prevents goja's compiler from folding constants, because 2n ** 100_000_000n is one, as is
// a doubling text. It wraps the literal left operand of an operator in a sequence of one
// expression, which compiles to the same code but is not a constant to the compiler, so no operator
// has constants on both sides.
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

// mayBeConstant reports whether an operand may be a constant to the compiler. An operand that
// contains a binary operator is not, once that is unfolded.
func mayBeConstant(e ast.Expression) bool {
	switch e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.UnaryExpression:
		return true
	}
	return false
}
