package js

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// walker goes through syntax trees, for a bounded number of nodes: sources are strangers' text, and what asks about
// a tree for each of its parts takes time that grows with its square.
type walker struct{ left int }

// maxWalk is how many nodes a walker visits, which takes it less than a second.
const maxWalk = 4_000_000

// walk calls enter with the nodes of a tree, from the outside in, each as a pointer to one of goja's types; it goes
// into those for which enter returns true. Going by reflection, it misses no kind of node, also not one that a
// later goja adds.
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
			// DeclarationList repeats variables that stand in the body.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				w.value(v.Field(i), enter)
			}
		}
	}
}

// isName reports whether a node is the variable of that name, also where it may be undefined: x of x?.a.
func isName(node any, name string) bool {
	if optional, ok := node.(*ast.Optional); ok {
		node = optional.Expression
	}
	id, ok := node.(*ast.Identifier)
	return ok && id.Name.String() == name
}

// mentions reports whether the variable of that name stands anywhere in a tree. For a pattern, which declares or
// assigns variables, it may say so of a name that is only read there.
func (w *walker) mentions(tree any, name string) (found bool) {
	w.walk(tree, func(node any) bool {
		short, ok := node.(*ast.PropertyShort)
		found = found || isName(node, name) || ok && short.Name.Name.String() == name
		return !found
	})
	return found
}

// rebinds reports whether a node declares or changes the variable of that name, or may do so.
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
		return w.mentions(n.Left, name) // x.a = 1 too: then x is no plain value any more
	case *ast.UnaryExpression:
		return (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) && isName(n.Operand, name)
	case *ast.WithStatement:
		return true // any name in it may be another's
	}
	return false
}
