package js

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// walker traverses syntax trees. walker visits a limited number of nodes, because a lint that
// searches each part of an untrusted source separately takes quadratic time.
type walker struct{ left int }

// maxWalk is the maximum number of nodes that a walker visits. Visiting maxWalk nodes takes less
// than a second.
const maxWalk = 4_000_000

// walk calls the function "enter" with each node of a tree in pre-order. A node is a pointer to one
// of goja's types. walk visits the children of a node if enter returns true. walk uses reflection,
// so it covers every kind of node, including kinds that a later version of goja adds.
func (w *walker) walk(tree any, enter func(node any) bool) { w.value(reflect.ValueOf(tree), enter) }

var sourceFile = reflect.TypeFor[*file.File]()

func (w *walker) value(v reflect.Value, enter func(node any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		w.value(v.Elem(), enter)
	case reflect.Pointer:
		if w.left--; w.left >= 0 && !v.IsNil() && v.Type() != sourceFile && enter(v.Interface()) {
			w.value(v.Elem(), enter)
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && w.left >= 0; i++ {
			w.value(v.Index(i), enter)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// The field DeclarationList repeats variables of the body.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				w.value(v.Field(i), enter)
			}
		}
	}
}

// isName reports whether a node is a variable with the name. The node can also be an optional
// expression, such as x in x?.a.
func isName(node any, name string) bool {
	if optional, ok := node.(*ast.Optional); ok {
		node = optional.Expression
	}
	id, ok := node.(*ast.Identifier)
	return ok && id.Name.String() == name
}

// mentions reports whether a tree contains a variable with the name. In a destructuring pattern, a
// name that the pattern only reads can also match.
func (w *walker) mentions(tree any, name string) (found bool) {
	w.walk(tree, func(node any) bool {
		short, ok := node.(*ast.PropertyShort)
		found = found || isName(node, name) || ok && short.Name.Name.String() == name
		return !found
	})
	return found
}

// rebinds reports whether a node can declare or change a variable with the name.
func (w *walker) rebinds(node any, name string) bool {
	switch n := node.(type) {
	case *ast.Binding:
		return w.mentions(n.Target, name)
	case *ast.ParameterList:
		return w.mentions(n.Rest, name)
	case *ast.CatchStatement:
		return w.mentions(n.Parameter, name)
	case *ast.FunctionLiteral:
		return n.Name != nil && isName(n.Name, name)
	case *ast.ClassLiteral:
		return n.Name != nil && isName(n.Name, name)
	case *ast.ForDeclaration:
		return w.mentions(n.Target, name)
	case *ast.ForIntoExpression:
		return w.mentions(n.Expression, name)
	case *ast.AssignExpression:
		return w.mentions(n.Left, name) // also matches x.a = 1, which changes the object
	case *ast.UnaryExpression:
		return (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) && isName(n.Operand, name)
	case *ast.WithStatement:
		return true // any name in the body can be a member of the object
	}
	return false
}
