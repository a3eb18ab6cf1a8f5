package js

import (
	"errors"

	"github.com/dop251/goja/ast"
)

// maxUnfolded is the maximum number of nodes that one rewrite visits. The syntax tree of any
// possible tool has fewer nodes.
const maxUnfolded = 32_000_000

var errTooManyParts = errors.New("the code has too many syntax nodes")

// unfold prevents goja's compiler from evaluating constant expressions, such as 2n ** 100_000_000n
// or a string that repeatedly doubles: if the left operand of an operator is a literal, it is
// wrapped in a sequence with one element. A sequence with one element compiles to the same code as
// the element, but the compiler does not treat it as a constant. Afterwards, no operator has two
// constant operands.
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

// mayBeConstant reports whether the compiler possibly treats an operand as a constant. A binary
// expression cannot be a constant, because unfold also changes the expression's own left operand.
func mayBeConstant(e ast.Expression) bool {
	switch e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.UnaryExpression:
		return true
	}
	return false
}
