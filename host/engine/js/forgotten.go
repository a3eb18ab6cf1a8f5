package js

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolrun/toolrun/abi"
)

// A read without await gives a promise, which has none of the content's fields: it shows as undefined far from
// the mistake, or not at all. What follows finds the cases in which an await is missing for certain.

// maxForgotten bounds how many are told.
const maxForgotten = 20

const awaitMissing = "an await is missing before memory.get_content"

// forgottenAwaits returns a warning for each get_content in the author's code whose promise is used as if it were
// the content, or not at all.
func forgottenAwaits(tree *ast.Program, s *script) []string {
	if !strings.Contains(s.code, abi.GetContent) {
		return nil
	}
	f := &forgotten{walker: walker{maxWalk}, tree: tree, script: s}
	f.block(tree.Body)
	f.walk(tree.Body, f.enter)
	if f.shadowed || f.left < 0 {
		return nil
	}
	return f.warnings
}

type forgotten struct {
	walker
	tree     *ast.Program
	script   *script
	warnings []string
	// shadowed is set where memory may be something of the author's own.
	shadowed bool
}

// enter looks at one node, but not into functions that read nothing.
func (f *forgotten) enter(node any) bool {
	f.shadowed = f.shadowed || f.rebinds(node, "memory")
	switch n := node.(type) {
	case *ast.FunctionLiteral:
		return strings.Contains(n.Source, abi.GetContent)
	case *ast.ArrowFunctionLiteral:
		return strings.Contains(n.Source, abi.GetContent)
	case *ast.BlockStatement:
		f.block(n.List)
	case *ast.ExpressionStatement:
		if read := readOf(n.Expression); read != nil {
			f.warn(read, "what this memory.get_content reads is not used")
		}
	}
	if read := readOf(promiseIn(node)); read != nil {
		f.warn(read, awaitMissing+": "+misuse(node))
	}
	return true
}

// block looks for variables that hold a promise, and are used as if they held the content.
func (f *forgotten) block(list []ast.Statement) {
	for _, statement := range list {
		declaration, ok := statement.(*ast.LexicalDeclaration)
		if f.left < 0 {
			return
		}
		if !ok {
			continue
		}
		for _, b := range declaration.List {
			id, ok := b.Target.(*ast.Identifier)
			read := readOf(b.Initializer)
			if !ok || read == nil || len(f.warnings) == maxForgotten {
				continue
			}
			if misused := f.misusedIn(list, id.Name.String(), b); misused != nil {
				f.warn(read, fmt.Sprintf("%s: %s is a promise, %s", awaitMissing, id.Name, misuse(misused)))
			}
		}
	}
}

// misusedIn returns a node that uses a variable as if it were no promise, nil where there is none, or where the
// variable can be anything else than what own declares.
func (f *forgotten) misusedIn(list []ast.Statement, name string, own *ast.Binding) (misused any) {
	changed := false
	f.walk(list, func(node any) bool {
		if node != any(own) && f.rebinds(node, name) {
			changed = true
		}
		if misused == nil && isName(promiseIn(node), name) {
			misused = node
		}
		return !changed
	})
	if changed {
		return nil
	}
	return misused
}

// promiseMembers are what a promise has. All else that is asked of one is undefined.
var promiseMembers = strings.Fields("then catch finally constructor toString toLocaleString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable __proto__")

// promiseIn returns the expression in a node that cannot be meant to be a promise there, or nil.
func promiseIn(node any) any {
	switch n := node.(type) {
	case *ast.DotExpression:
		if !slices.Contains(promiseMembers, n.Identifier.Name.String()) {
			return n.Left
		}
	case *ast.BracketExpression:
		if key, ok := n.Member.(*ast.StringLiteral); ok && !slices.Contains(promiseMembers, key.Value.String()) {
			return n.Left
		}
	case *ast.BinaryExpression:
		if n.Operator == token.COALESCE || n.Operator == token.LOGICAL_OR {
			return n.Left
		}
	case *ast.Binding:
		if pattern, ok := n.Target.(*ast.ObjectPattern); ok && takesFields(pattern) {
			return n.Initializer
		}
	}
	return nil
}

// takesFields reports whether a pattern takes nothing but fields that no promise has.
func takesFields(pattern *ast.ObjectPattern) bool {
	for _, property := range pattern.Properties {
		name := ""
		switch p := property.(type) {
		case *ast.PropertyShort:
			name = p.Name.Name.String()
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok {
				name = key.Value.String()
			}
		}
		if name == "" || slices.Contains(promiseMembers, name) {
			return false
		}
	}
	return len(pattern.Properties) > 0 && pattern.Rest == nil
}

// misuse says what is wrong with a node that promiseIn found something in.
func misuse(node any) string {
	switch n := node.(type) {
	case *ast.DotExpression:
		return "which has no " + n.Identifier.Name.String()
	case *ast.BinaryExpression:
		return "which is never null"
	}
	return "which has no such field"
}

// readOf returns the call where an expression is memory.get_content(...), and nil otherwise.
func readOf(expression any) *ast.CallExpression {
	if optional, ok := expression.(*ast.Optional); ok {
		expression = optional.Expression
	}
	call, ok := expression.(*ast.CallExpression)
	if !ok {
		return nil
	}
	callee, ok := call.Callee.(*ast.DotExpression)
	if !ok || callee.Identifier.Name != abi.GetContent || !isName(callee.Left, "memory") {
		return nil
	}
	return call
}

// warn adds a warning about a call, if it is in code of the author's.
func (f *forgotten) warn(read *ast.CallExpression, text string) {
	at := f.tree.File.Position(int(read.Idx0()) - f.tree.File.Base())
	name, line, column, ok := f.script.position(at.Line, at.Column)
	if !ok || len(f.warnings) == maxForgotten || strings.Contains("/"+name, "/node_modules/") {
		return
	}
	warning := fmt.Sprintf("%s:%d:%d: %s", name, line, column, text)
	if !slices.Contains(f.warnings, warning) {
		f.warnings = append(f.warnings, warning)
	}
}
