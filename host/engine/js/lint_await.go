package js

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolrun/toolrun/abi"
)

// Without await, the value of a read is a promise. A promise does not have the fields of the
// content. If a tool reads such a field from the promise, the value is undefined. Therefore, if an
// await is missing, an error occurs far from the read, or no error occurs. The lint in this file
// finds only cases in which an await is certainly missing.

// maxAwaitWarnings is the maximum number of warnings that the lint adds about missing awaits.
const maxAwaitWarnings = 20

const awaitMissing = "an await is missing before memory.get_content"

// lintAwaits examines each get_content in the author's code. If its promise is used as if it were
// the content, or if its promise is not used at all, lintAwaits returns a warning.
func lintAwaits(tree *ast.Program, s *script) []string {
	if !strings.Contains(s.code, abi.GetContent) {
		return nil
	}
	f := &awaitLinter{walker: walker{maxWalk}, tree: tree, script: s}
	f.block(tree.Body)
	f.walk(tree.Body, f.enter)
	if f.shadowed || f.left < 0 {
		return nil
	}
	return f.warnings
}

type awaitLinter struct {
	walker
	tree     *ast.Program
	script   *script
	warnings []string
	// shadowed reports whether the name "memory" possibly refers to a variable of the author.
	shadowed bool
}

// enter checks a node. If the node is a function that contains no read, the method returns false.
func (f *awaitLinter) enter(node any) bool {
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
			f.warn(read, "the result of this memory.get_content is not used")
		}
	}
	if read := readOf(promiseIn(node)); read != nil {
		f.warn(read, awaitMissing+": "+misuse(node))
	}
	return true
}

// block finds variables that contain a promise but are used as if they contained the content.
func (f *awaitLinter) block(list []ast.Statement) {
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
			if !ok || read == nil || len(f.warnings) == maxAwaitWarnings {
				continue
			}
			if misused := f.misusedIn(list, id.Name.String(), b); misused != nil {
				f.warn(read, fmt.Sprintf("%s: %s is a promise, %s", awaitMissing, id.Name, misuse(misused)))
			}
		}
	}
}

// misusedIn returns a node that uses a promise in a variable as if it were the awaited value. If
// no such node exists, it returns nil. The argument "own" declares the variable. If other code
// can change this variable, misusedIn also returns nil.
func (f *awaitLinter) misusedIn(list []ast.Statement, name string, own *ast.Binding) (misused any) {
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

// promiseMembers contains the names of the members that a promise has. Any other member of a
// promise is undefined.
var promiseMembers = strings.Fields("then catch finally constructor toString toLocaleString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable __proto__")

// promiseIn examines a node that contains an expression. If the node uses the expression in a way
// that makes no sense for a promise, promiseIn returns the expression, otherwise nil.
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

// takesFields reports whether a pattern binds only fields that a promise does not have.
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

// misuse describes the mistake in a node for which promiseIn has returned an expression.
func misuse(node any) string {
	switch n := node.(type) {
	case *ast.DotExpression:
		return "which has no " + n.Identifier.Name.String()
	case *ast.BinaryExpression:
		return "which is never null"
	}
	return "which has no such field"
}

// readOf examines an expression. If it is a call memory.get_content(...), readOf returns this call,
// otherwise nil.
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

// warn adds a warning about a call. The call is in the author's code.
func (f *awaitLinter) warn(read *ast.CallExpression, text string) {
	at := f.tree.File.Position(int(read.Idx0()) - f.tree.File.Base())
	name, line, column, ok := f.script.position(at.Line, at.Column)
	if !ok || len(f.warnings) == maxAwaitWarnings || strings.Contains("/"+name, "/node_modules/") {
		return
	}
	warning := fmt.Sprintf("%s:%d:%d: %s", name, line, column, text)
	if !slices.Contains(f.warnings, warning) {
		f.warnings = append(f.warnings, warning)
	}
}
