package bundle

import (
	"errors"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/abi"
)

// shape describes the statements of a body. shape determines the form of the tool.
type shape struct {
	returns   bool   // the body has a return statement outside of all functions
	exports   bool   // the body assigns to module.exports or exports
	strange   bool   // the body certainly does not export an entry
	entry     Form   // Main or Execute if the body declares this function but does not call it
	called    string // the name of an entry function that the body calls
	functions bool   // the body declares functions
	acts      bool   // the body has statements that are not function declarations
	vars      map[string]bool
}

// A body is parsed as a function in parentheses. If the text of a body contains a bracket that
// closes this function, the parser reports an error.
const (
	wrapperHead = "(async function () {\n"
	wrapperTail = "\n})"
)

// parseBody parses code that must be the body of an async function.
func (t *tool) parseBody(code string) (*shape, *abi.Fault) {
	result := transform(wrapperHead+code+wrapperTail, t.lang, api.FormatCommonJS)
	author := func(source string, line, column int) (location, bool) {
		return t.within(line-1, column)
	}
	if len(result.Errors) > 0 {
		return nil, t.bodyFault(result.Errors, author)
	}
	lowered := string(result.Code)
	program, err := parser.ParseFile(nil, "", lowered, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, t.unsupported(err, result.Map, author)
	}
	body := wrappedFunction(program)
	if body == nil {
		return nil, t.strayFault()
	}
	return shapeOf(body, lowered), nil
}

// wrappedFunction returns the function that wraps a body. Helpers for lowered code can precede the
// function.
func wrappedFunction(p *ast.Program) *ast.FunctionLiteral {
	for i, s := range p.Body {
		switch s := s.(type) {
		case *ast.VariableStatement:
			continue
		case *ast.ExpressionStatement:
			if f, ok := s.Expression.(*ast.FunctionLiteral); ok && i == len(p.Body)-1 {
				return f
			}
		}
		return nil
	}
	return nil
}

func (t *tool) bodyFault(messages []api.Message, author author) *abi.Fault {
	m := messages[0]
	if f := t.bracketFault(); f != nil && mayBeBracket(m.Text) { // this fault is clearer than the parser's
		return f
	}
	if computed := computedImport(messages); computed != nil {
		m = *computed
	}
	at, ok := locationOf(m.Location, author)
	if !ok { // the error is at the end of the wrapper
		at = t.end()
	}
	f := invalid(at, "%s", plain(m.Text))
	f.Hint, _ = m.Detail.(string)
	return f
}

// unsupported returns the fault for code that goja's parser rejects although esbuild accepted it.
func (t *tool) unsupported(err error, sourceMap []byte, author author) *abi.Fault {
	list, ok := errors.AsType[parser.ErrorList](err)
	if !ok || len(list) == 0 {
		return invalid(location{file: t.path}, "this JavaScript syntax is not supported in tools")
	}
	at := location{file: t.path}
	if p, err := decodePositions(sourceMap, author); err == nil {
		if where, ok := p.find(list[0].Position.Line, list[0].Position.Column); ok {
			at = where
		}
	}
	return invalid(at, "%s", plain(list[0].Message))
}

// shapeOf returns the shape of a body. text is the source of the body's statements.
func shapeOf(f *ast.FunctionLiteral, text string) *shape {
	s := &shape{vars: map[string]bool{}}
	for _, d := range f.DeclarationList {
		for _, b := range d.List {
			if id, ok := b.Target.(*ast.Identifier); ok {
				s.vars[id.Name.String()] = true
			}
		}
	}
	elsewhere := countWords(text) // the number of uses of each word outside of the declared functions
	declared := map[string]bool{}
	for _, statement := range f.Body.List {
		s.returns = s.returns || returns(statement)
		s.exports = s.exports || assignsExports(statement)
		name, source := declaredFunction(statement)
		if name == "" {
			s.acts = true
			continue
		}
		declared[name] = true
		for word, n := range countWords(source) {
			elsewhere[word] -= n
		}
	}
	s.functions = len(declared) > 0
	s.strange = s.exports && exportsNoEntry(f.Body.List, countWords(text))
	for _, form := range []Form{Main, Execute} {
		switch name := string(form); {
		case !declared[name] || s.entry != "" || s.called != "":
		case elsewhere[name] > 0:
			s.called = name
		default:
			s.entry = form
		}
	}
	return s
}

// countWords returns the number of occurrences of each word in a text.
func countWords(text string) map[string]int {
	found, fault := scanSource("", text, javascript)
	if fault != nil { // lowered code can be nested deeper than the original code
		return map[string]int{}
	}
	return found.words
}

// declaredFunction returns the name and the source of the function that a statement declares. The
// returned source includes the name of the function. For a statement that is not a function
// declaration, the name and the source are empty.
func declaredFunction(s ast.Statement) (name, source string) {
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		return s.Function.Name.Name.String(), s.Function.Source
	case *ast.VariableStatement:
		return functionVariable(s.List)
	case *ast.LexicalDeclaration:
		return functionVariable(s.List)
	}
	return "", ""
}

func functionVariable(list []*ast.Binding) (name, source string) {
	if len(list) != 1 {
		return "", ""
	}
	id, ok := list[0].Target.(*ast.Identifier)
	if !ok {
		return "", ""
	}
	switch f := list[0].Initializer.(type) {
	case *ast.FunctionLiteral:
		source = f.Source
	case *ast.ArrowFunctionLiteral:
		source = f.Source
	default:
		return "", ""
	}
	return id.Name.String(), id.Name.String() + " " + source
}

// assignsExports reports whether a statement is an assignment to module.exports, exports or a
// property of them.
func assignsExports(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	for at := e.Expression; ; {
		assign, ok := at.(*ast.AssignExpression)
		if !ok {
			return false
		}
		if root := rootOf(assign.Left); root == "exports" || root == "module" {
			return true
		}
		at = assign.Right
	}
}

// rootOf returns the first name in a chain of properties, such as "a" in a.b.c.
func rootOf(e ast.Expression) string {
	for {
		switch x := e.(type) {
		case *ast.DotExpression:
			e = x.Left
		case *ast.BracketExpression:
			e = x.Left
		case *ast.Identifier:
			return x.Name.String()
		default:
			return ""
		}
	}
}

// returns reports whether a statement is or contains a return statement. The function ignores
// return statements in nested functions.
func returns(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.ReturnStatement:
		return true
	case *ast.BlockStatement:
		return s != nil && anyReturns(s.List)
	case *ast.IfStatement:
		return returns(s.Consequent) || returns(s.Alternate)
	case *ast.ForStatement:
		return returns(s.Body)
	case *ast.ForInStatement:
		return returns(s.Body)
	case *ast.ForOfStatement:
		return returns(s.Body)
	case *ast.WhileStatement:
		return returns(s.Body)
	case *ast.DoWhileStatement:
		return returns(s.Body)
	case *ast.WithStatement:
		return returns(s.Body)
	case *ast.LabelledStatement:
		return returns(s.Statement)
	case *ast.TryStatement:
		return returns(s.Body) || s.Catch != nil && returns(s.Catch.Body) || returns(s.Finally)
	case *ast.SwitchStatement:
		for _, c := range s.Body {
			if anyReturns(c.Consequent) {
				return true
			}
		}
	}
	return false
}

func anyReturns(list []ast.Statement) bool {
	for _, s := range list {
		if returns(s) {
			return true
		}
	}
	return false
}
