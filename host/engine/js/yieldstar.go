package js

import (
	"strings"

	"github.com/dop251/goja/ast"
)

// plainYields removes the yield* helper from generators that are not async. The yield* helper
// prefers the async iterator of its argument. If esbuild lowers async generators, esbuild adds the
// helper to all generators.
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

// unwrapYields replaces yield* helper(x) with yield* x in a generator. unwrapYields skips nested
// functions.
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
