package js

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Source code cannot contain variables with these names.
const (
	cleanerName  = "\x00clean"
	cleanerParam = "\x00cleaner"
	caughtName   = "\x00caught"
)

// watchCatches changes each catch clause that has a parameter, so that the clause first passes the
// caught value to a function. This function is the third argument of the script's function.
// watchCatches reports whether the script has such clauses. goja writes Go texts and heap addresses
// into some errors, and it has no hook for the creation of errors. Therefore, a caught value must
// be cleaned.
func watchCatches(tree *ast.Program) bool {
	outer := scriptFunction(tree)
	if outer == nil {
		return false
	}
	found := false
	w := walker{maxUnfolded}
	w.walk(outer.Body, func(node any) bool {
		if c, ok := node.(*ast.CatchStatement); ok && c.Parameter != nil {
			watchCatch(c)
			found = true
		}
		return true
	})
	if found {
		at := outer.Function
		outer.ParameterList.List = append(outer.ParameterList.List, &ast.Binding{Target: identifier(at, cleanerParam)})
		// The called function is kept in a constant, because a tool can change the script's
		// arguments.
		outer.Body.List = append([]ast.Statement{declaration(at, token.CONST, identifier(at, cleanerName), identifier(at, cleanerParam))}, outer.Body.List...)
	}
	return found
}

// scriptFunction returns the function that is the value of a script.
func scriptFunction(tree *ast.Program) *ast.FunctionLiteral {
	if len(tree.Body) != 1 {
		return nil
	}
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	f, _ := statement.Expression.(*ast.FunctionLiteral)
	return f
}

func watchCatch(c *ast.CatchStatement) {
	at := c.Catch
	var first []ast.Statement
	name, ok := c.Parameter.(*ast.Identifier)
	if !ok { // the clause has a destructuring pattern, which reads the caught value
		name = identifier(at, caughtName)
		first = []ast.Statement{declaration(at, token.LET, c.Parameter, name)}
		c.Parameter = name
	}
	call := &ast.CallExpression{Callee: identifier(at, cleanerName), LeftParenthesis: at, RightParenthesis: at,
		ArgumentList: []ast.Expression{identifier(at, name.Name)}}
	first = append([]ast.Statement{&ast.ExpressionStatement{Expression: call}}, first...)
	c.Body.List = append(first, c.Body.List...)
}

func declaration(at file.Idx, kind token.Token, target ast.BindingTarget, value ast.Expression) ast.Statement {
	return &ast.LexicalDeclaration{Idx: at, Token: kind, List: []*ast.Binding{{Target: target, Initializer: value}}}
}

func identifier(at file.Idx, name unistring.String) *ast.Identifier {
	return &ast.Identifier{Name: name, Idx: at}
}

// function returns the function that every catch clause calls.
func (c *errorCleaner) function() goja.Value {
	return c.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		c.clean(call.Argument(0))
		return goja.Undefined()
	})
}
