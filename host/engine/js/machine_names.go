package js

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// machineNames checks the names in one part of a machine's code. It ignores scopes: if the code
// declares a name anywhere, the name counts as declared everywhere.
type machineNames struct {
	*machineCompiler
	part  snippet
	local *names
	seen  map[ast.Node]bool // nodes that are a part of a larger reference, such as steps in steps.a
}

// references checks the names in parsed code. It also records the steps and the inputs that the
// code uses.
func (c *machineCompiler) references(tree *ast.Program, part snippet) {
	n := &machineNames{machineCompiler: c, part: part, local: namesOf(tree), seen: map[ast.Node]bool{}}
	if n.local.opaque {
		c.allSteps, c.allInputs = true, true
		return
	}
	n.walk(tree.Body, n.enter)
}

func (n *machineNames) at(node ast.Node) machine.Position {
	return n.doc.PositionAt(n.part.offset(int(node.Idx0()) - 1))
}

// enter checks a node. The nodes that enclose this node have already been checked.
func (n *machineNames) enter(node any) bool {
	if len(n.problems) >= maxMachineProblems {
		return false // computing the positions of more problems takes too much time
	}
	switch v := node.(type) {
	case *ast.BranchStatement, *ast.MetaProperty:
		return false // in the skipped fields, the names are not variables
	case *ast.LabelledStatement:
		n.walk(v.Statement, n.enter)
		return false
	case *ast.DotExpression:
		n.member(v)
	case *ast.BracketExpression:
		if name, ok := v.Member.(*ast.StringLiteral); ok && n.isGlobal(v.Left, "steps") {
			n.seen[rootOf(v.Left)] = true
			n.useStep(name.Value.String(), v)
		}
	case *ast.Identifier:
		if !n.seen[v] {
			n.variable(v.Name.String(), v)
		}
	case *ast.PropertyShort:
		n.variable(v.Name.Name.String(), &v.Name)
	}
	return true
}

// rootOf returns the expression inside of an ast.Optional, such as x in x?.a. If e is not an
// ast.Optional, rootOf returns e itself.
func rootOf(e ast.Expression) ast.Node {
	if o, ok := e.(*ast.Optional); ok {
		return rootOf(o.Expression)
	}
	return e
}

// isGlobal reports whether an expression is a name that is not declared in the code.
func (n *machineNames) isGlobal(e ast.Expression, name string) bool {
	return isName(e, name) && !n.local.declared[name]
}

// member checks an expression such as steps.NAME or input.NAME. It also checks the field of a
// step's result.
func (n *machineNames) member(v *ast.DotExpression) {
	name := v.Identifier.Name.String()
	switch {
	case n.isGlobal(v.Left, "steps"):
		n.seen[rootOf(v.Left)] = true
		n.useStep(name, v)
	case n.isGlobal(v.Left, "input"):
		n.seen[rootOf(v.Left)] = true
		n.useInput(name, v)
	default:
		if s := n.resultOfStep(v.Left); s != nil {
			n.field(s, name, v)
		}
	}
}

// resultOfStep returns the step whose result an expression is: steps.NAME or NAME.
func (n *machineNames) resultOfStep(e ast.Expression) *machine.Step {
	name := ""
	switch v := rootOf(e).(type) {
	case *ast.DotExpression:
		if n.isGlobal(v.Left, "steps") {
			name = v.Identifier.Name.String()
		}
	case *ast.Identifier:
		if !n.local.declared[v.Name.String()] {
			name = v.Name.String()
		}
	}
	s, _ := n.stepNamed(name)
	return s
}

// field checks the name of a field of a step's result.
func (n *machineNames) field(s *machine.Step, name string, v *ast.DotExpression) {
	var known []string
	for _, f := range s.Results() {
		known = append(known, f.Value)
	}
	if len(known) == 0 || slices.Contains(known, name) || slices.Contains(objectMembers, name) {
		return
	}
	at := n.doc.PositionAt(n.part.offset(int(v.Identifier.Idx) - 1))
	n.errorf(at, problem.UnknownName, suggestion(name, known, "the fields are: "), "the result of the step %q has no field %q", s.Name.Value, cut(name, maxNameBytes))
}

// useStep records that the code refers to a step.
func (n *machineNames) useStep(name string, node ast.Node) {
	s, earlier := n.stepNamed(name)
	switch {
	case s == nil:
		n.errorf(n.at(node), problem.UnknownName, suggestion(name, n.names, "the steps are: "), "the machine has no step %q", cut(name, maxNameBytes))
	case !earlier && n.step != nil:
		n.errorf(n.at(node), problem.UnknownName, "move the step up", "the result of the step %q does not exist yet, because that step runs later", name)
	case n.step == nil:
		n.errorf(n.at(node), problem.UnknownName, "write a constant", "a test cannot use the result of a step")
	}
	n.usedSteps[name] = true
}

// useInput records that the code refers to an input.
func (n *machineNames) useInput(name string, node ast.Node) {
	if n.step == nil {
		n.errorf(n.at(node), problem.UnknownName, "write a constant", "a test cannot use the input")
		return
	}
	n.usedInputs[name] = true
	var known []string
	for _, f := range n.doc.Accepts {
		known = append(known, f.Value)
	}
	if slices.Contains(known, name) || slices.Contains(objectMembers, name) {
		return
	}
	hint := suggestion(name, known, "the inputs are: ")
	if len(known) == 0 {
		hint = "declare the input: add a line \"accepts\", and the line \"" + name + " as text\" below it"
	}
	n.errorf(n.at(node), problem.UnknownName, hint, "the machine does not accept the input %q", cut(name, maxNameBytes))
}

// variable checks a name. No dot precedes this name.
func (n *machineNames) variable(name string, node ast.Node) {
	switch {
	case n.local.declared[name], n.local.tested[name], machineGlobals[name], name == "now", name == "arguments":
		return
	case name == "steps":
		n.allSteps = true
		return
	case name == "input":
		n.allInputs = true
		return
	case slices.Contains(n.names, name):
		n.useStep(name, node)
		return
	}
	if hint := machineEffects[name]; hint != "" {
		n.errorf(n.at(node), problem.UnknownName, hint, "the code of a machine cannot use %s", name)
		return
	}
	known := slices.Concat(n.names, []string{"input", "steps", "now"}, slices.Sorted(maps.Keys(machineGlobals)))
	hint := suggestion(name, known, "")
	for _, f := range n.doc.Accepts {
		if f.Value == name {
			hint = "write input." + name
		}
	}
	if hint == "" && name == "end" {
		hint = "remove the word; a step ends where the next step begins"
	}
	if hint == "" && n.part.script.Text == name {
		hint = fmt.Sprintf("to write a text, use quotes: %q", cut(name, maxNameBytes))
	}
	n.errorf(n.at(node), problem.UnknownName, hint, "the name %q is not defined", cut(name, maxNameBytes))
}

// suggestion returns a hint about a name that may be misspelled.
func suggestion(name string, known []string, otherwise string) string {
	if near := spell.Name(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if otherwise == "" || len(known) == 0 {
		return ""
	}
	return otherwise + strings.Join(known, ", ")
}

// checkResult compares the object that the last step returns with the section "responds with".
func (c *machineCompiler) checkResult(tree *ast.Program, part snippet) {
	if len(c.known)+1 != len(c.doc.Steps) {
		return
	}
	statements := function(tree)
	if len(statements) == 0 {
		return
	}
	last, ok := statements[len(statements)-1].(*ast.ReturnStatement)
	if !ok {
		return
	}
	object, ok := last.Argument.(*ast.ObjectLiteral)
	if !ok {
		return
	}
	members := map[string]ast.Expression{}
	for _, p := range object.Value {
		switch v := p.(type) {
		case *ast.PropertyShort:
			members[v.Name.Name.String()] = nil
		case *ast.PropertyKeyed:
			key, ok := v.Key.(*ast.StringLiteral)
			if !ok || v.Computed {
				return
			}
			members[key.Value.String()] = v.Value
		default:
			return
		}
	}
	for _, f := range c.doc.Responds {
		value, ok := members[f.Value]
		at := c.doc.PositionAt(part.offset(int(object.Idx0()) - 1))
		if !ok && !f.Optional {
			c.errorf(at, problem.MissingKey, "add the field", "the result of the last step, %q, has no field %q", c.step.Name.Value, f.Value)
		}
		if got := literalType(value); got != "" && got != f.Type && f.Type != machine.Any && !(got == machine.Number && f.Type == machine.Integer) {
			c.errorf(at, problem.BadValue, "", "the field %q of the result is of the type %s; want %s", f.Value, got, f.Type)
		}
	}
}

// literalType returns the type that a literal has. If the node is not a literal, it returns "".
func literalType(e ast.Expression) machine.Type {
	switch e.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return machine.Text
	case *ast.NumberLiteral:
		return machine.Number
	case *ast.BooleanLiteral:
		return machine.Boolean
	case *ast.ArrayLiteral:
		return machine.List
	case *ast.ObjectLiteral:
		return machine.Object
	}
	return ""
}
