package js

import (
	"strings"

	"github.com/dop251/goja/ast"
)

// plainYields takes the helper of yield* out of generators that are not async. It prefers the asynchronous iterator of
// what it is given, and esbuild puts it into all generators once it lowers the async ones.
func plainYields(code string, tree *ast.Program) {
	if !strings.Contains(code, "__yieldStar") {
		return
	}
	helper, async := yieldStarHelper().FindStringSubmatch(code), asyncGeneratorHelper().FindStringSubmatch(code)
	if helper == nil {
		return
	}
	w := walker{maxUnfolded}
	lowered := map[*ast.FunctionLiteral]bool{}
	w.walk(tree.Body, func(node any) bool {
		switch n := node.(type) {
		case *ast.CallExpression:
			if f := lastFunction(n); f != nil && async != nil && isName(n.Callee, async[1]) {
				lowered[f] = true
			}
		case *ast.FunctionLiteral:
			if n.Generator && !lowered[n] {
				unwrapYields(n, helper[1])
			}
		}
		return true
	})
}

func lastFunction(call *ast.CallExpression) *ast.FunctionLiteral {
	if len(call.ArgumentList) == 0 {
		return nil
	}
	f, _ := call.ArgumentList[len(call.ArgumentList)-1].(*ast.FunctionLiteral)
	return f
}

// unwrapYields makes yield* helper(x) of a generator, but not of functions in it, a yield* x again.
func unwrapYields(generator *ast.FunctionLiteral, helper string) {
	w := walker{maxUnfolded}
	w.walk(generator.Body, func(node any) bool {
		switch n := node.(type) {
		case *ast.FunctionLiteral:
			return false
		case *ast.YieldExpression:
			if call, ok := n.Argument.(*ast.CallExpression); ok && n.Delegate && len(call.ArgumentList) == 1 && isName(call.Callee, helper) {
				n.Argument = call.ArgumentList[0]
			}
		}
		return true
	})
}
