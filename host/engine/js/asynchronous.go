package js

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// Names of globals that no source can write by themselves: what takes the place of esbuild's helpers.
const (
	asyncGeneratorName = "\x00asyncGenerator"
	yieldStarName      = "\x00yieldStar"
	forAwaitName       = "\x00forAwait"
)

// What esbuild's helpers look like, whatever it had to call them.
var (
	asyncGeneratorHelper = lazyRegexp(`var (__asyncGenerator\d*) = \(__this, __arguments, generator\) => \{\s+var resume = `)
	yieldStarHelper      = lazyRegexp(`var (__yieldStar\d*) = \(value\) => \{\s+var obj = `)
	forAwaitHelper       = lazyRegexp(`var (__forAwait\d*) = \(obj, it, method\) => `)
	awaitHelper          = lazyRegexp(`var (__await\d*) = function\(promise, isYieldStar\) \{`)
	helperDeclaration    = lazyRegexp(`var __(?:asyncGenerator|yieldStar|forAwait|await)\d* = `)
)

// asyncHelpers are the helpers of a script, "" for those that it does not have.
type asyncHelpers struct{ generator, yieldStar, forAwait, await string }

// findAsyncHelpers finds esbuild's helpers for async generators. It reports false if there are none, or more than one of a
// kind: those of a package that was bundled before go together, and keep to their own.
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

// mendAsync puts our own functions in the place of esbuild's helpers, which differ from the language: an await in a finally
// ended it where the consumer had left the loop, a return did not await its value within the generator, and next of a
// generator was no method of a prototype.
func mendAsync(code string, tree *ast.Program) {
	h, ok := findAsyncHelpers(code)
	if !ok {
		return
	}
	w := walker{maxUnfolded}
	w.walk(tree.Body, func(node any) bool {
		switch n := node.(type) {
		case *ast.Binding:
			return !h.replace(n)
		case *ast.CallExpression:
			if f := lastFunction(n); f != nil && h.generator != "" && isName(n.Callee, h.generator) {
				h.awaitReturns(f)
			}
		}
		return true
	})
}

// replace initialises a helper with our function, and reports whether it is one.
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

// awaitReturns makes each return of a generator, but not of functions in it, await its value, which may fail within a try.
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

func call(at file.Idx, name unistring.String, argument ast.Expression) *ast.CallExpression {
	return &ast.CallExpression{Callee: identifier(at, name), LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{argument}}
}
