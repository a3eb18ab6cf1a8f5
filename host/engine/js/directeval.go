package js

import (
	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// evalNames matches the name eval, possibly with an escape.
var evalNames = lazyregexp.New(`eval|\\u`)

// makeEvalIndirect changes each call of eval into an indirect call, because goja compiles some
// functions with direct calls incorrectly. For example, such a call in a switch statement that
// declares a variable makes goja allocate 64 GiB. Both kinds of calls throw the same error, because
// eval is disabled.
func makeEvalIndirect(code string, tree *ast.Program) {
	if !evalNames().MatchString(code) {
		return
	}
	w := walker{maxUnfolded}
	w.walk(tree.Body, func(node any) bool {
		if c, ok := node.(*ast.CallExpression); ok {
			if name, ok := c.Callee.(*ast.Identifier); ok && name.Name == "eval" {
				c.Callee = &ast.SequenceExpression{Sequence: []ast.Expression{name}}
			}
		}
		return true
	})
}
