package js

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// The engine replaces helpers of esbuild. The replacements are in globals that have these names.
// Source code cannot contain such a name.
const (
	asyncGeneratorName = "\x00asyncGenerator"
	yieldStarName      = "\x00yieldStar"
	forAwaitName       = "\x00forAwait"
	markName           = "\x00asyncGeneratorFunction"
)

// The patterns below match esbuild's helper functions. The name of such a helper function can end
// with a number.
var (
	asyncGeneratorHelper = lazyregexp.New(`var (__asyncGenerator\d*) = \(__this, __arguments, generator\) => \{\s+var resume = `)
	yieldStarHelper      = lazyregexp.New(`var (__yieldStar\d*) = \(value\) => \{\s+var obj = `)
	forAwaitHelper       = lazyregexp.New(`var (__forAwait\d*) = \(obj, it, method\) => `)
	awaitHelper          = lazyregexp.New(`var (__await\d*) = function\(promise, isYieldStar\) \{`)
	helperDeclaration    = lazyregexp.New(`var __(?:asyncGenerator|yieldStar|forAwait|await)\d* = `)
)

// asyncHelpers contains the names that esbuild's helpers have in a script. If a helper is missing,
// its name is "".
type asyncHelpers struct{ generator, yieldStar, forAwait, await string }

// findAsyncHelpers returns the names of esbuild's helpers for async generators. If the script has
// no helpers, or several helpers of the same kind, findAsyncHelpers returns false. The helpers in a
// package that was already bundled are not replaced, because they depend on each other.
func findAsyncHelpers(code string) (h asyncHelpers, ok bool) {
	if !strings.Contains(code, "__asyncGenerator") && !strings.Contains(code, "__forAwait") {
		return h, false
	}
	found := 0
	for name, helper := range map[*string]func() *regexp.Regexp{&h.generator: asyncGeneratorHelper, &h.yieldStar: yieldStarHelper, &h.forAwait: forAwaitHelper, &h.await: awaitHelper} {
		if match := helper().FindStringSubmatch(code); match != nil {
			*name = match[1]
			found++
		}
	}
	return h, found > 0 && found == len(helperDeclaration().FindAllString(code, -1)) && (h.generator == "" || h.await != "")
}

// replaceAsyncHelpers replaces the helpers of esbuild with functions of the engine, because the
// helpers deviate from the language. For example, when a consumer leaves the loop over a generator
// that esbuild lowered, an await in a finally clause of the generator ends the clause too early.
// There are two more differences: a return statement does not await its value within the generator,
// and the function "next" of a generator is not a method of a prototype.
func replaceAsyncHelpers(code string, tree *ast.Program) {
	h, ok := findAsyncHelpers(code)
	if !ok {
		return
	}
	w := walker{maxUnfolded}
	w.walk(tree.Body, func(node any) bool {
		switch n := node.(type) {
		case *ast.Binding:
			return !h.replace(n)
		case *ast.BlockStatement:
			n.List = h.markDeclared(n.List)
		case *ast.CallExpression:
			h.markArguments(n)
			if f := lastFunction(n); f != nil && h.generator != "" && isName(n.Callee, h.generator) {
				h.awaitReturns(f)
			}
		}
		return true
	})
}

// replace initializes a binding with a function of the engine if the binding is a helper of
// esbuild. The result reports whether it is.
func (h asyncHelpers) replace(b *ast.Binding) bool {
	id, ok := b.Target.(*ast.Identifier)
	if !ok || b.Initializer == nil {
		return false
	}
	switch id.Name.String() {
	case "":
		return false
	case h.generator:
		b.Initializer = call(id.Idx, asyncGeneratorName, identifier(id.Idx, unistring.NewFromString(h.await)))
	case h.yieldStar:
		b.Initializer = identifier(id.Idx, yieldStarName)
	case h.forAwait:
		b.Initializer = identifier(id.Idx, forAwaitName)
	default:
		return false
	}
	return true
}

// awaitReturns changes each return statement of a generator so that the statement awaits its value.
// If the await fails within a try block, the generator can catch the error. awaitReturns skips
// nested functions.
func (h asyncHelpers) awaitReturns(generator *ast.FunctionLiteral) {
	w := walker{maxUnfolded}
	w.walk(generator.Body, func(node any) bool {
		switch n := node.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			return false
		case *ast.ReturnStatement:
			if n.Argument != nil {
				n.Argument = &ast.YieldExpression{Yield: n.Return, Argument: &ast.NewExpression{
					New: n.Return, Callee: identifier(n.Return, unistring.NewFromString(h.await)), ArgumentList: []ast.Expression{n.Argument}}}
				return false
			}
		}
		return true
	})
}

// isAsyncGenerator reports whether a function is an async generator that esbuild has lowered. Such
// a function only returns a new generator.
func (h asyncHelpers) isAsyncGenerator(f *ast.FunctionLiteral) bool {
	if h.generator == "" || len(f.Body.List) != 1 {
		return false
	}
	made, ok := f.Body.List[0].(*ast.ReturnStatement)
	if !ok {
		return false
	}
	c, ok := made.Argument.(*ast.CallExpression)
	return ok && isName(c.Callee, h.generator)
}

// markDeclared marks those async generators that a block declares. Declarations are hoisted, so the
// marks are inserted at the beginning of the block.
func (h asyncHelpers) markDeclared(list []ast.Statement) []ast.Statement {
	var marks []ast.Statement
	for _, s := range list {
		if d, ok := s.(*ast.FunctionDeclaration); ok && h.isAsyncGenerator(d.Function) {
			at := d.Function.Function
			marks = append(marks, &ast.ExpressionStatement{Expression: call(at, markName, identifier(at, d.Function.Name.Name))})
		}
	}
	if marks == nil {
		return list
	}
	directives := 0
	for directives < len(list) && isText(list[directives]) {
		directives++
	}
	return slices.Concat(list[:directives], marks, list[directives:])
}

// isText reports whether a statement consists only of a string. Such a statement can be a
// directive, such as "use strict".
func isText(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if ok {
		_, ok = e.Expression.(*ast.StringLiteral)
	}
	return ok
}

// markArguments marks async generators that are arguments of a call. If a generator is not an
// argument, goja infers a name for it. The mark would remove this name.
func (h asyncHelpers) markArguments(c *ast.CallExpression) {
	if isName(c.Callee, markName) {
		return
	}
	for i, argument := range c.ArgumentList {
		if f, ok := argument.(*ast.FunctionLiteral); ok && h.isAsyncGenerator(f) {
			c.ArgumentList[i] = call(f.Function, markName, f)
		}
	}
}

func call(at file.Idx, name unistring.String, argument ast.Expression) *ast.CallExpression {
	return &ast.CallExpression{Callee: identifier(at, name), LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{argument}}
}
