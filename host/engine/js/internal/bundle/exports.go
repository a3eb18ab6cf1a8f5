package bundle

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// exportsNoEntry reports whether a CommonJS module certainly exports no entry. exportsNoEntry
// searches for assignments to properties of module.exports and exports. A module certainly exports
// no entry if none of these properties can be an entry, and if "exports" and "module" occur only in
// these assignments. The argument "words" contains the number of occurrences of each name.
func exportsNoEntry(body []ast.Statement, words map[string]int) bool {
	exports, modules := 0, 0
	for _, statement := range body {
		e, ok := statement.(*ast.ExpressionStatement)
		if !ok {
			continue
		}
		assign, ok := e.Expression.(*ast.AssignExpression)
		if !ok {
			continue
		}
		name, module := exportedName(assign.Left)
		if name == "" {
			continue
		}
		if slices.Contains(entryExports, name) {
			return false
		}
		if module {
			modules++
			continue
		}
		exports++
	}
	// The argument "words" does not count a word after a dot. Therefore module.exports counts as an
	// occurrence of "module" and not of "exports".
	return exports+modules > 0 && exports == words["exports"] && modules == words["module"]
}

// exportedName returns the name in an expression exports.name or module.exports.name. For any other
// expression, exportedName returns "".
func exportedName(e ast.Expression) (name string, module bool) {
	dot, ok := e.(*ast.DotExpression)
	if !ok {
		return "", false
	}
	name = dot.Identifier.Name.String()
	switch of := dot.Left.(type) {
	case *ast.Identifier:
		if of.Name.String() == "exports" {
			return name, false
		}
	case *ast.DotExpression:
		if isVariable(of.Left, "module") && of.Identifier.Name.String() == "exports" {
			return name, true
		}
	}
	return "", false
}

func isVariable(e ast.Expression, name string) bool {
	id, ok := e.(*ast.Identifier)
	return ok && id.Name.String() == name
}
