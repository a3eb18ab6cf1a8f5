package js

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// walker traverses syntax trees. It visits a limited number of nodes, because a lint that searches
// each part of an untrusted source separately could take quadratic time.
type walker struct{ left int }

// maxWalk is the maximum number of nodes that one walker visits. Visiting this number of nodes
// takes less than a second.
const maxWalk = 4_000_000

// walk calls the function "enter" for each node of a tree. A node is visited before its children. A
// node is a pointer to one of goja's types. If the function "enter" returns true, the children of
// the node are also visited. The method uses reflection, so it covers every kind of node, including
// kinds that a later version of goja adds.
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
			// The field DeclarationList contains variables that the body also contains.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				w.value(v.Field(i), enter)
			}
		}
	}
}

// isName reports whether a node is a variable that has the given name. An optional expression, such
// as x in x?.a, can also be such a node.
func isName(node any, name string) bool {
	if optional, ok := node.(*ast.Optional); ok {
		node = optional.Expression
	}
	id, ok := node.(*ast.Identifier)
	return ok && id.Name.String() == name
}

// mentions reports whether a tree contains a variable that has the given name. A destructuring
// pattern can contain names that it only reads. Such a name can also match.
func (w *walker) mentions(tree any, name string) (found bool) {
	w.walk(tree, func(node any) bool {
		short, ok := node.(*ast.PropertyShort)
		found = found || isName(node, name) || ok && short.Name.Name.String() == name
		return !found
	})
	return found
}

// rebinds reports whether a node can declare or change a variable that has the given name.
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
		return w.mentions(n.Left, name) // x.a = 1 also matches, because it changes the object
	case *ast.UnaryExpression:
		return (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) && isName(n.Operand, name)
	case *ast.WithStatement:
		return true // any name in the body can be a member of the object
	}
	return false
}
