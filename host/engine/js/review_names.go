package js

import (
	"bytes"
	"cmp"
	"context"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/toolrun/toolrun/host/engine"
)

// The type names contains the variables of a bundle.
type names struct {
	walker
	declared map[string]bool   // the names that are declared or assigned anywhere
	tested   map[string]bool   // the names whose existence the code tests
	texts    map[string]string // the initial values of the names that are initialized with a string
	count    map[string]int    // the number of declarations and assignments of each name
	opaque   bool              // the code has a "with" statement or is too large for a review
}

func (n *names) once(name string) bool { return n.count[name] == 1 }

func namesOf(tree *ast.Program) *names {
	n := &names{
		walker: walker{maxWalk}, declared: map[string]bool{}, tested: map[string]bool{},
		texts: map[string]string{}, count: map[string]int{},
	}
	n.walk(tree.Body, n.enter)
	n.opaque = n.opaque || n.left < 0
	return n
}

func (n *names) enter(node any) bool {
	switch v := node.(type) {
	case *ast.Binding:
		n.declare(v.Target)
		id, named := v.Target.(*ast.Identifier)
		if text, ok := v.Initializer.(*ast.StringLiteral); ok && named {
			n.texts[id.Name.String()] = text.Value.String()
		}
	case *ast.ParameterList:
		n.declare(v.Rest)
	case *ast.CatchStatement:
		n.declare(v.Parameter)
	case *ast.FunctionLiteral:
		n.declare(v.Name)
	case *ast.ClassLiteral:
		n.declare(v.Name)
	case *ast.ForDeclaration:
		n.declare(v.Target)
	case *ast.ForIntoExpression:
		n.declare(v.Expression)
	case *ast.AssignExpression:
		n.assign(v.Left)
	case *ast.UnaryExpression:
		if v.Operator == token.TYPEOF || v.Operator == token.INCREMENT || v.Operator == token.DECREMENT {
			n.unary(v)
		}
	case *ast.BinaryExpression:
		if text, ok := folded(v.Left).(*ast.StringLiteral); ok && v.Operator == token.IN {
			n.tested[text.Value.String()] = true // "fetch" in globalThis
		}
	case *ast.DotExpression:
		if isGlobalObject(v.Left) {
			n.tested[v.Identifier.Name.String()] = true // if (globalThis.fetch)
		}
	case *ast.WithStatement:
		n.opaque = true
	}
	return true
}

// folded returns the expression that the function "unfold" has wrapped in a sequence.
func folded(e ast.Expression) ast.Expression {
	if s, ok := e.(*ast.SequenceExpression); ok && len(s.Sequence) == 1 {
		return s.Sequence[0]
	}
	return e
}

func (n *names) unary(v *ast.UnaryExpression) {
	id, ok := v.Operand.(*ast.Identifier)
	switch {
	case !ok:
	case v.Operator == token.TYPEOF:
		n.tested[id.Name.String()] = true
	default:
		n.count[id.Name.String()]++
	}
}

// declare adds all names in a pattern. The added names include names that the pattern reads but
// does not declare.
func (n *names) declare(target any) {
	n.walk(target, func(node any) bool {
		switch v := node.(type) {
		case *ast.Identifier:
			n.add(v.Name.String())
		case *ast.PropertyShort:
			n.add(v.Name.Name.String())
		}
		return true
	})
}

// assign adds the names that an assignment can create.
func (n *names) assign(left ast.Expression) {
	if dot, ok := left.(*ast.DotExpression); ok && !isGlobalObject(dot.Left) && !isName(dot.Left, "memory") {
		return
	}
	n.declare(left)
}

func (n *names) add(name string) {
	n.declared[name] = true
	n.count[name]++
}

func isGlobalObject(e ast.Expression) bool {
	return isName(e, "globalThis") || isName(e, "global") || isName(e, "self") || isName(e, "window")
}

// isDefined tests whether a global exists. isDefined does not read the global.
var isDefined = lazyProgram("toolrun:review", "(name) => name in globalThis", false)

// definedGlobals returns a function that reports whether a global with a given name exists in a
// run.
func definedGlobals(p *program) func(name string) bool {
	r := newRun(context.Background(), p, &engine.Input{}, &engine.Host{})
	r.prepare()
	value, err := r.realm.vm.RunProgram(isDefined())
	ask, ok := goja.AssertFunction(value)
	return func(name string) bool {
		if err != nil || !ok {
			return true
		}
		answer, err := ask(goja.Undefined(), r.realm.vm.ToValue(name))
		return err != nil || answer.ToBoolean()
	}
}

// isBlank reports whether a source contains only white space and comments.
func isBlank(source []byte) bool {
	for rest := bytes.TrimPrefix(source, []byte("\ufeff")); ; {
		rest = bytes.TrimSpace(rest)
		end, skip := "", 0
		switch {
		case len(rest) == 0:
			return true
		case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("#!")):
			end, skip = "\n", 0
		case bytes.HasPrefix(rest, []byte("/*")):
			end, skip = "*/", 2
		default:
			return false
		}
		_, after, _ := bytes.Cut(rest[cmp.Or(skip, 1):], []byte(end))
		rest = after
	}
}
