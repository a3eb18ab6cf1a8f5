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

// The names of globals that contain our replacements of esbuild's helpers. Source code cannot
// contain the names of these globals.
const (
	asyncGeneratorName = "\x00asyncGenerator"
	yieldStarName      = "\x00yieldStar"
	forAwaitName       = "\x00forAwait"
	markName           = "\x00asyncGeneratorFunction"
)

// The patterns below match esbuild's helper functions. The name of a helper function can end with a
// number.
var (
	asyncGeneratorHelper = lazyregexp.New(`var (__asyncGenerator\d*) = \(__this, __arguments, generator\) => \{\s+var resume = `)
	yieldStarHelper      = lazyregexp.New(`var (__yieldStar\d*) = \(value\) => \{\s+var obj = `)
	forAwaitHelper       = lazyregexp.New(`var (__forAwait\d*) = \(obj, it, method\) => `)
	awaitHelper          = lazyregexp.New(`var (__await\d*) = function\(promise, isYieldStar\) \{`)
	helperDeclaration    = lazyregexp.New(`var __(?:asyncGenerator|yieldStar|forAwait|await)\d* = `)
)

// asyncHelpers contains the names of esbuild's helpers in a script. The name of a missing helper is
// "".
type asyncHelpers struct{ generator, yieldStar, forAwait, await string }

// findAsyncHelpers returns the names of esbuild's helpers for async generators. findAsyncHelpers
// returns false if the script has no helpers, or several helpers of one kind. The helpers of an
// already bundled package are left unchanged, because they depend on each other.
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

// replaceAsyncHelpers replaces esbuild's helpers with our own functions, because esbuild's helpers
// deviate from the language. With esbuild's helpers, an await in a finally clause ends the clause
// early if the consumer has left the loop. The helpers of esbuild differ from the specification in
// two ways: a return statement does not await its value within the generator, and the function
// "next" of a generator is not a method of a prototype.
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

// replace initializes a binding with our function if the binding is a helper of esbuild. The result
// reports whether the binding is a helper.
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

// awaitReturns makes each return statement of a generator await its value, because the await can
// fail within a try block. awaitReturns skips nested functions.
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

// isAsyncGenerator reports whether a function is a lowered async generator. A lowered async
// generator only returns a new generator.
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

// markDeclared marks the async generators that a block declares. The marks are inserted at the
// beginning of the block, because declarations are hoisted.
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

// isText reports whether a statement can be a directive such as "use strict".
func isText(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if ok {
		_, ok = e.Expression.(*ast.StringLiteral)
	}
	return ok
}

// markArguments marks the async generators among the arguments of a call. For a generator that is
// not an argument, goja infers a name, and the mark would remove the inferred name.
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
