package js

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

// A review reports undeclared names and unknown memory calls. A review ignores scopes: a name that
// is declared anywhere in the bundle counts as declared everywhere. A review can therefore miss
// mistakes, but a review does not report correct code.

// reviewOf returns the review of a bundle.
func reviewOf(tree *ast.Program, s *script, src engine.Source, p *program) engine.Review {
	r := &reviewer{
		walker: walker{maxWalk}, tree: tree, script: s, params: src.Params, operations: p.operations.Of(abi.MemoryModule),
		names: namesOf(tree), defined: definedGlobals(p), reported: map[string]bool{},
	}
	if r.names.opaque {
		return engine.Review{}
	}
	if isBlank(src.Code) {
		r.review.Findings = append(r.review.Findings, engine.Finding{
			Message: "the source is empty, so the tool returns null", Hint: "add code that returns a result",
			Position: engine.Position{File: p.name, Line: 1, Column: 1},
		})
	}
	r.walk(tree.Body, r.enter)
	if r.left < 0 {
		return engine.Review{}
	}
	for _, warning := range slices.Concat(s.warnings, s.awaitWarnings) {
		f := findingOf(p.name, warning)
		if !slices.ContainsFunc(r.review.Findings, func(g engine.Finding) bool { return g.Position == f.Position }) {
			r.review.Findings = append(r.review.Findings, f)
		}
	}
	return r.review
}

var positionedWarning = lazyregexp.New(`^([^\s:]+\.(?:[cm]?[jt]s|machine)):(\d+):(\d+): (.+)$`)

// findingOf converts a warning to a finding. The warning can begin with a position.
func findingOf(entry, warning string) engine.Finding {
	part := positionedWarning().FindStringSubmatch(warning)
	if part == nil {
		return engine.Finding{Message: warning, Position: engine.Position{File: entry, Line: 1, Column: 1}}
	}
	line, _ := strconv.Atoi(part[2])
	column, _ := strconv.Atoi(part[3])
	return engine.Finding{Message: part[4], Position: engine.Position{File: part[1], Line: line, Column: column}}
}

type reviewer struct {
	walker
	tree       *ast.Program
	script     *script
	params     []string // the inputs that the tool declares
	operations []abi.Operation
	names      *names
	defined    func(name string) bool
	reported   map[string]bool // the names that already have a finding
	caught     int             // the number of enclosing try statements that have a catch clause
	review     engine.Review
}

// enter checks a node.
func (r *reviewer) enter(node any) bool {
	switch n := node.(type) {
	case *ast.TryStatement:
		return r.try(n)
	case *ast.LabelledStatement:
		r.walk(n.Statement, r.enter)
		return false
	case *ast.BranchStatement, *ast.MetaProperty:
		return false // a skipped field contains only names that are not variables
	case *ast.CallExpression:
		r.call(n)
	case *ast.NewExpression:
		r.makesCode(n.Callee, n.ArgumentList)
	case *ast.Identifier:
		r.name(n.Name.String(), int(n.Idx))
	case *ast.RegExpLiteral:
		r.pattern(n)
	case *ast.PropertyShort:
		r.name(n.Name.Name.String(), int(n.Name.Idx))
	}
	return true
}

// try walks the syntax tree of a try statement. If the statement has a catch clause, the author may
// expect the code in the try block to fail.
func (r *reviewer) try(n *ast.TryStatement) bool {
	if n.Catch == nil {
		return true
	}
	r.caught++
	r.walk(n.Body, r.enter)
	r.caught--
	r.walk(n.Catch, r.enter)
	r.walk(n.Finally, r.enter)
	return false
}

// call checks a call to a memory operation or to eval.
func (r *reviewer) call(n *ast.CallExpression) {
	r.makesCode(n.Callee, n.ArgumentList)
	callee, ok := n.Callee.(*ast.DotExpression)
	if !ok || !isName(callee.Left, "memory") || r.names.declared["memory"] {
		return
	}
	name := callee.Identifier.Name.String()
	at := slices.IndexFunc(r.operations, func(op abi.Operation) bool { return op.Name == name })
	if at < 0 {
		if !slices.Contains(objectMembers, name) && r.caught == 0 {
			r.find(int(callee.Identifier.Idx), r.operationHint(name), "memory has no operation "+name)
		}
		return
	}
	if missing := missingArgument(r.operations[at], n.ArgumentList); missing != "" && r.caught == 0 {
		r.find(int(callee.Idx0()), "", name+" lacks the argument "+missing)
	}
	text, ok := r.targetOf(r.operations[at], n.ArgumentList)
	position, own := r.position(int(callee.Idx0()))
	if !ok || !own || len(r.review.Calls) >= engine.MaxReviewCalls {
		return
	}
	found := engine.MemoryCall{Op: name, Item: text, Position: position}
	if r.operations[at].Params[0].Kind == abi.StoreName {
		found.Store, found.Item = text, ""
	}
	r.review.Calls = append(r.review.Calls, found)
}

// objectMembers contains the functions that every object has.
var objectMembers = strings.Fields("constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf")

func (r *reviewer) operationHint(name string) string {
	var names []string
	for _, op := range r.operations {
		names = append(names, op.Name)
	}
	// The comparison ignores underscores and case, so getContent matches get_content.
	folded := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, known := range names {
		if strings.ReplaceAll(known, "_", "") == folded {
			return "did you mean " + known + "?"
		}
	}
	if near := spell.Name(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "use one of: " + strings.Join(names, ", ")
}

// targetOf returns the name of the store or the item that a call uses. The code can pass the name
// as the first argument or as a named argument. If the call certainly omits an optional store, the
// result is "" and true.
func (r *reviewer) targetOf(op abi.Operation, args []ast.Expression) (string, bool) {
	if len(args) == 0 || len(op.Params) == 0 || op.Params[0].Kind != abi.StoreName && !op.Params[0].Required {
		return "", false
	}
	named, ok := args[0].(*ast.ObjectLiteral)
	if !ok && hasOptionalStore(op) {
		if len(args) == 1 {
			_, isText := r.text(args[0])
			return "", isText
		}
		if _, isOptions := args[1].(*ast.ObjectLiteral); isOptions {
			return "", true
		}
		if _, isText := r.text(args[1]); !isText && (len(args) < 3 || slices.ContainsFunc(args, isSpread)) {
			return "", false // args[0] can be the argument for the second parameter
		}
	}
	if !ok {
		return r.text(args[0])
	}
	first := op.Params[0]
	for _, property := range named.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed {
			continue
		}
		if key, ok := r.text(p.Key); ok && (key == first.Name || slices.Contains(first.Aliases, key)) {
			return r.text(p.Value)
		}
	}
	_, certain := literalKeys(named)
	return "", certain && hasOptionalStore(op)
}

// text returns the constant string value of an expression. The expression is a literal, or the name
// of a constant that the code declares only once.
func (r *reviewer) text(e ast.Expression) (string, bool) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), true
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
			return e.Elements[0].Parsed.String(), true
		}
	case *ast.Identifier:
		text, ok := r.names.texts[e.Name.String()]
		return text, ok && r.names.once(e.Name.String())
	}
	return "", false
}

// makesCode reports calls to eval and to the Function constructor. Some libraries use the Function
// constructor to find the global object. makesCode ignores that idiom.
func (r *reviewer) makesCode(callee ast.Expression, args []ast.Expression) {
	if s, ok := callee.(*ast.SequenceExpression); ok && len(s.Sequence) == 1 { // see makeEvalIndirect
		callee = s.Sequence[0]
	}
	id, ok := callee.(*ast.Identifier)
	if !ok || r.caught > 0 {
		return
	}
	if len(args) == 1 {
		if text, _ := r.text(args[0]); text == "return this" {
			return
		}
	}
	switch name := id.Name.String(); {
	case r.names.declared[name]:
	case name == "eval", name == "Function":
		r.find(int(id.Idx), "", "`eval` and `new Function` are disabled in tools")
	}
}

// input checks a variable $name for which the tool declares no input. If the name resembles a
// declared input, the method reports the variable.
func (r *reviewer) input(name string, at int) {
	input, ok := strings.CutPrefix(name, "$")
	if !ok || !slices.Contains(r.script.inputs, input) || slices.Contains(r.params, input) || r.reported[name] || r.names.tested[name] {
		return
	}
	if near := spell.Name(input, r.params); near != "" && r.find(at, "did you mean $"+near+"?", "the tool declares no input "+input) {
		r.reported[name] = true
	}
}

// name reports an undeclared variable.
func (r *reviewer) name(name string, at int) {
	r.input(name, at)
	if r.caught > 0 || r.reported[name] || name == "arguments" || r.names.declared[name] || r.names.tested[name] || r.defined(name) {
		return
	}
	if r.find(at, r.nameHint(name), name+" is not defined") {
		r.reported[name] = true
	}
}

// nameHint returns the hint for an undeclared variable.
func (r *reviewer) nameHint(name string) string {
	if hint := unsupportedHint(name); hint != "" {
		return hint
	}
	known := slices.Sorted(func(yield func(string) bool) {
		for declared := range r.names.declared {
			if !strings.HasPrefix(declared, "__") && !yield(declared) {
				return
			}
		}
	})
	if near := spell.Name(name, known[:min(len(known), 500)]); near != "" && near != name {
		return "did you mean " + near + "?"
	}
	return ""
}

// find adds a finding at an offset in the bundle. The method ignores offsets that do not belong to
// the author's files.
func (r *reviewer) find(at int, hint, message string) bool {
	position, own := r.position(at)
	if !own || len(r.review.Findings) == engine.MaxReviewFindings {
		return false
	}
	r.review.Findings = append(r.review.Findings, engine.Finding{Message: cut(message, maxMessageBytes), Hint: hint, Position: position})
	return true
}

// position maps an offset in the bundle to a position in the author's files. The second result is
// false for generated code and for the code of packages.
func (r *reviewer) position(at int) (engine.Position, bool) {
	in := r.tree.File.Position(at - r.tree.File.Base())
	file, line, column, ok := r.script.position(in.Line, in.Column)
	return engine.Position{File: file, Line: line, Column: column}, ok && !strings.Contains("/"+file, "/node_modules/")
}
