package js

import (
	"errors"

	"github.com/dop251/goja/ast"
)

// maxUnfolded is the maximum number of nodes that a rewrite visits. The syntax tree of the largest
// possible tool has fewer nodes.
const maxUnfolded = 32_000_000

var errTooManyParts = errors.New("the code has too many syntax nodes")

// unfold prevents goja's compiler from evaluating constant expressions, such as 2n ** 100_000_000n
// or a string that repeatedly doubles. unfold wraps the literal left operand of an operator in a
// sequence with one element. A sequence compiles to the same code, but the compiler does not treat
// it as a constant. After unfold, no operator has two constant operands.
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

// mayBeConstant reports whether the compiler can treat an operand as a constant. An operand with a
// binary operator is not a constant after unfold has changed the operator.
func mayBeConstant(e ast.Expression) bool {
	switch e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.UnaryExpression:
		return true
	}
	return false
}
