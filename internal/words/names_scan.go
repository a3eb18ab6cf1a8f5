package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// findNames compares the name of a file, and the names that a Go file declares, with the lists, and
// returns the listed names. findNames does not count uses of a name, because uses change together
// with the declaration of the name.
func findNames(f sourceFile) ([]finding, error) {
	var found []finding
	for _, n := range fileNames {
		if n.matches(f.name) {
			found = append(found, finding{"name", f.name, 1, "the file " + path.Base(f.name), n.use})
		}
	}
	for _, n := range folders {
		if strings.HasPrefix(f.name, n.now+"/") {
			found = append(found, finding{"name", f.name, 1, "the folder " + n.now, n.use})
		}
	}
	if path.Ext(f.name) != ".go" {
		return found, nil
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, f.name, f.text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, id := range declared(parsed) {
		for _, n := range identifiers[id.Name] {
			if n.in == "" || strings.HasPrefix(path.Dir(f.name)+"/", n.in+"/") {
				line := set.Position(id.Pos()).Line
				found = append(found, finding{"name", f.name, line, "the name " + id.Name, n.use})
			}
		}
	}
	return found, nil
}

// declared returns the identifiers that a file declares: types, functions, constants, variables,
// fields and parameters.
func declared(file *ast.File) (ids []*ast.Ident) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				ids = append(ids, identsOf(n.Lhs...)...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				ids = append(ids, identsOf(n.Key, n.Value)...)
			}
		}
		return true
	})
	return ids
}

func identsOf(exprs ...ast.Expr) (ids []*ast.Ident) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			ids = append(ids, id)
		}
	}
	return ids
}
