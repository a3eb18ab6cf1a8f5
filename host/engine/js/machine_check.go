package js

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

// machineGlobals contains names of JavaScript. The code of a machine can use these names.
var machineGlobals = func() map[string]bool {
	known := map[string]bool{}
	for name := range strings.FieldsSeq(`Object Array String Number Boolean Date Math JSON RegExp Map Set WeakMap WeakSet Promise Symbol
		BigInt Error TypeError RangeError SyntaxError ReferenceError EvalError URIError parseInt parseFloat isNaN isFinite NaN Infinity
		undefined encodeURIComponent decodeURIComponent encodeURI decodeURI structuredClone URL URLSearchParams Intl console Reflect Proxy
		ArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array TextEncoder
		TextDecoder crypto atob btoa globalThis`) {
		known[name] = true
	}
	return known
}()

// machineEffects contains hints for names of JavaScript globals that the code of a machine cannot
// use. For an operation of the host, the hint names the kind of step to use instead.
var machineEffects = map[string]string{
	"memory": "use a step remember, recall or forget", "model": "use a step ask", "fetch": "machines cannot send requests",
}

// machineCompiler checks the code in a machine.
type machineCompiler struct {
	walker
	doc      *machine.Document
	step     *machine.Step  // the current step; nil if the code belongs to a test
	known    []machine.Step // all steps before the current step
	problems problem.List
	names    []string // of all steps
	// The code of a machine uses the names of steps and inputs. usedSteps and usedInputs contain
	// these names. If the code uses the whole object "steps", allSteps is true. If the code uses
	// the whole object "input", allInputs is true.
	usedSteps, usedInputs map[string]bool
	allSteps, allInputs   bool
}

func newMachineCompiler(d *machine.Document) *machineCompiler {
	c := &machineCompiler{walker: walker{maxWalk}, doc: d, usedSteps: map[string]bool{}, usedInputs: map[string]bool{}}
	for _, s := range d.Steps {
		c.names = append(c.names, s.Name.Value)
	}
	return c
}

const maxMachineProblems = 100

func (c *machineCompiler) errorf(at machine.Position, code problem.Code, hint, format string, args ...any) {
	c.report(problem.Error, at, code, hint, format, args...)
}

func (c *machineCompiler) report(severity problem.Severity, at machine.Position, code problem.Code, hint, format string, args ...any) {
	if len(c.problems) < maxMachineProblems {
		p := problem.New(c.doc.File, at.Line, at.Column, code, hint, format, args...)
		p.Severity = severity
		c.problems = append(c.problems, p)
	}
}

// snippet is one of the parts in which goja parses the code of a machine.
type snippet struct {
	script   machine.Script
	prefix   int   // before the script, there is generated code of this length
	inserted []int // the offsets of those bytes of the code that the file does not contain
}

// offset converts an offset in the parsed code. The result is an offset in the file.
func (s snippet) offset(at int) int {
	at = max(at-s.prefix, 0)
	for i := len(s.inserted) - 1; i >= 0; i-- {
		if s.inserted[i] < at {
			at--
		}
	}
	return s.script.Offset + min(at, max(len(s.script.Text)-1, 0))
}

// parse parses code. If the code has a syntax error, the method returns the message and the offset
// of the first error.
func (c *machineCompiler) parse(code string) (tree *ast.Program, at int, message string) {
	defer func() {
		if recover() != nil { // for some sources, goja's parser panics
			tree, at, message = nil, 0, "the code cannot be parsed"
		}
	}()
	if f := bundle.Scan(code); f != nil {
		return nil, offsetOf(code, f.Line, f.Column), f.Message
	}
	tree, err := parser.ParseFile(nil, "", code, 0, parser.WithDisableSourceMaps)
	if list, ok := err.(parser.ErrorList); ok && len(list) > 0 {
		return nil, offsetOf(code, list[0].Position.Line, list[0].Position.Column), lowerFirst(list[0].Message)
	}
	if err != nil {
		return nil, 0, "the code cannot be parsed"
	}
	return tree, 0, ""
}

func lowerFirst(message string) string {
	message = cut(message, maxMessageBytes)
	return strings.ToLower(message[:min(1, len(message))]) + message[min(1, len(message)):]
}

// offsetOf converts a line and a column to an offset. Both start at 1.
func offsetOf(code string, line, column int) int {
	offset := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(code[offset:], '\n')
		if n < 0 {
			break
		}
		offset += n + 1
	}
	return min(offset+max(column-1, 0), len(code))
}

// syntaxError reports a syntax error.
func (c *machineCompiler) syntaxError(s snippet, at int, message string) {
	c.errorf(c.doc.PositionAt(s.offset(at)), problem.Syntax, "", "%s", message)
}

// expression checks an expression and returns its JavaScript code. It also returns the offsets of
// those bytes of the code that the file does not contain.
func (c *machineCompiler) expression(s machine.Script) (code string, inserted []int) {
	const prefix = `"use strict"; (`
	code, inserted = s.JavaScript()
	part := snippet{s, len(prefix), inserted}
	tree, at, message := c.parse(prefix + code + "\n)")
	if message != "" {
		c.syntaxError(part, at, message)
		return code, inserted
	}
	c.references(tree, part)
	return code, inserted
}

// For the parser, the code of a step "compute" is wrapped in this function.
const (
	bodyPrefix = `(function () { "use strict"; `
	bodySuffix = "\n})"
)

// body checks the code of a step "compute". An expression in the code is the result of the step.
// The method returns the offset of this expression, and the end of the code before it. If the code
// contains a return statement, this offset is -1.
func (c *machineCompiler) body(s machine.Script) (result, before int) {
	part := snippet{script: s, prefix: len(bodyPrefix)}
	object, before := s.Value()
	if object >= 0 {
		const inserted = "; return ("
		code := bodyPrefix + s.Text[:object] + inserted + strings.TrimRight(s.Text[object:], "; \t\r\n") + ")" + bodySuffix
		for i := range inserted {
			part.inserted = append(part.inserted, object+i)
		}
		tree, at, message := c.parse(code)
		if message == "" {
			c.references(tree, part)
			c.checkResult(tree, part)
			return object, before
		}
		if _, _, other := c.parse(bodyPrefix + s.Text + bodySuffix); other != "" {
			c.syntaxError(part, at, message)
			return -1, 0
		}
		part.inserted = nil
	}
	tree, at, message := c.parse(bodyPrefix + s.Text + bodySuffix)
	if message != "" {
		c.syntaxError(part, at, message)
		return -1, 0
	}
	c.references(tree, part)
	return c.resultOf(tree, part)
}

// function returns the statements of a parsed function. The statement "use strict" is omitted.
func function(tree *ast.Program) []ast.Statement {
	if len(tree.Body) != 1 {
		return nil
	}
	if e, ok := tree.Body[0].(*ast.ExpressionStatement); ok {
		if f, ok := e.Expression.(*ast.FunctionLiteral); ok && len(f.Body.List) > 0 {
			return f.Body.List[1:]
		}
	}
	return nil
}

// resultOf returns the position at which a step "compute" has its result. It is used if the code of
// the step does not end with an object.
func (c *machineCompiler) resultOf(tree *ast.Program, part snippet) (result, before int) {
	statements, returns := function(tree), false
	c.walk(statements, func(node any) bool {
		switch node.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
			return false
		case *ast.ReturnStatement:
			returns = true
		}
		return true
	})
	if returns {
		return -1, 0
	}
	if n := len(statements); n > 0 {
		if last, ok := statements[n-1].(*ast.ExpressionStatement); ok {
			start := min(max(int(last.Idx0())-1-part.prefix, 0), len(part.script.Text))
			return start, start
		}
	}
	c.errorf(c.step.Position, problem.MissingKey, "end the code with an object `{...}`, an expression or `return`", "the step %q has no result", c.step.Name.Value)
	return -1, 0
}

// checkTests checks the code in the tests.
func (c *machineCompiler) checkTests() {
	c.step, c.known = nil, nil
	for _, t := range c.doc.Tests {
		scripts := []machine.Script{t.Given, t.Expect}
		for _, a := range t.Assuming {
			scripts = append(scripts, a.Script)
		}
		for _, s := range scripts {
			if s.Text != "" {
				c.expression(s)
			}
		}
		c.checkTestMembers(t)
	}
}

// checkTestMembers checks a test. It reports inputs that the machine does not accept. It also
// reports assumed fields that the result of a step does not have.
func (c *machineCompiler) checkTestMembers(t machine.Test) {
	if len(c.doc.Accepts) > 0 {
		c.knownMembers(t.Given, c.doc.Accepts, "the machine does not accept the input %q")
	}
	for _, a := range t.Assuming {
		if s, _ := c.stepNamed(a.Value); s != nil && s.Results() != nil {
			c.knownMembers(a.Script, s.Results(), "the result of the step "+strconv.Quote(a.Value)+" has no field %q")
		}
	}
}

// knownMembers reports each member of an object whose name is not the name of a field.
func (c *machineCompiler) knownMembers(s machine.Script, fields []machine.Field, format string) {
	const prefix = `"use strict"; (`
	code, inserted := s.JavaScript()
	tree, _, message := c.parse(prefix + code + "\n)")
	if s.Text == "" || message != "" || len(tree.Body) == 0 {
		return
	}
	statement, ok := tree.Body[len(tree.Body)-1].(*ast.ExpressionStatement)
	if !ok {
		return
	}
	object, ok := statement.Expression.(*ast.ObjectLiteral)
	if !ok {
		return
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.Value)
	}
	part := snippet{s, len(prefix), inserted}
	for _, p := range object.Value {
		if keyed, ok := p.(*ast.PropertyKeyed); ok && !keyed.Computed {
			key, ok := keyed.Key.(*ast.StringLiteral)
			if !ok || slices.Contains(known, key.Value.String()) {
				continue
			}
			name := key.Value.String()
			at := c.doc.PositionAt(part.offset(int(keyed.Key.Idx0()) - 1))
			c.errorf(at, problem.UnknownName, suggestion(name, known, "the names are: "), format, cut(name, maxNameBytes))
		}
	}
}

// checkUnused reports inputs and results that no code uses.
func (c *machineCompiler) checkUnused() {
	if c.problems.Err() != nil {
		return // the code that has the error may use them
	}
	for _, f := range c.doc.Accepts {
		if !c.allInputs && !c.usedInputs[f.Value] {
			c.report(problem.Warning, f.Position, problem.NoEffect, "remove the input, or use input."+f.Value, "no step uses the input %q", f.Value)
		}
	}
	for i, s := range c.doc.Steps {
		result := s.Kind == machine.Recall || s.Kind == machine.Ask || s.Kind == machine.Compute
		if result && i < len(c.doc.Steps)-1 && !c.allSteps && !c.usedSteps[s.Name.Value] {
			c.report(problem.Warning, s.Name.Position, problem.NoEffect, "remove the step, or use steps."+s.Name.Value, "no later step uses the result of the step %q", s.Name.Value)
		}
	}
}

// stepNamed returns the step that has the given name. The second result is true if this step
// precedes the current step.
func (c *machineCompiler) stepNamed(name string) (s *machine.Step, earlier bool) {
	i := slices.Index(c.names, name)
	if i < 0 {
		return nil, false
	}
	return &c.doc.Steps[i], i < len(c.known)
}
