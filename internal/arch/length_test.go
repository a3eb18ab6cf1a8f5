package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// maxFunctionLines is the maximum number of lines of a function. The lines of the signature count,
// but the lines of data tables in the body do not count.
const maxFunctionLines = 60

func TestFunctionLength(t *testing.T) {
	set := token.NewFileSet()
	for _, file := range sourceFiles(t) {
		if file.test {
			continue
		}
		for _, f := range functions(file.parse(t, set, 0)) {
			if lines := functionLines(set, f); lines > maxFunctionLines {
				t.Errorf("%s: the function has %d lines; want at most %d: split it", set.Position(f.Pos()), lines, maxFunctionLines)
			}
		}
	}
}

// functions returns the functions that a file declares and the function literals in package
// variables. A function literal inside a function is not returned, because its lines count toward
// the enclosing function.
func functions(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			found = append(found, n)
			return false
		}
		return true
	})
	return found
}

// functionLines returns the number of lines of a function, without the lines of data tables in the
// body.
func functionLines(set *token.FileSet, function ast.Node) int {
	lines := set.Position(function.End()).Line - set.Position(function.Pos()).Line + 1
	ast.Inspect(function, func(n ast.Node) bool {
		table, ok := n.(*ast.CompositeLit)
		if !ok || hasFunction(table) {
			return true
		}
		lines -= set.Position(table.Rbrace).Line - set.Position(table.Lbrace).Line
		return false
	})
	return lines
}

func hasFunction(n ast.Node) (has bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, function := n.(*ast.FuncLit)
		has = has || function
		return !has
	})
	return has
}

// TestFunctionLines checks that the lines of data tables do not count, and that the lines of tables
// of functions count.
func TestFunctionLines(t *testing.T) {
	for source, want := range map[string]int{
		"func f() {\n\ta()\n}":                                                      3,
		"func f() {\n\ta([]int{\n\t\t1,\n\t\t2,\n\t})\n}":                           3,
		"func f() {\n\ta(T{\n\t\tf: func() {\n\t\t\ta()\n\t\t},\n\t})\n}":           7,
		"func f() {\n\ta([]T{{\n\t\tn: 1,\n\t}, {f: func() {}}})\n}":                3,
		"func f() {\n\tfunc() {\n\t\ta(map[int]int{\n\t\t\t1: 2,\n\t\t})\n\t}()\n}": 5,
		"// comment\n//\nfunc f() {}":                                               1,
		"var f = map[string]func(){\n\"a\": func() {\n\ta()\n},\n}":                 3,
	} {
		set := token.NewFileSet()
		file := parseText(t, set, source)
		found := functions(file)
		if len(found) != 1 {
			t.Fatalf("%d functions in %q; want 1", len(found), source)
		}
		if got := functionLines(set, found[0]); got != want {
			t.Errorf("functionLines = %d of\n%s\nwant %d", got, source, want)
		}
	}
}

// parseText parses declarations. Tests of the rules use parseText.
func parseText(t *testing.T, set *token.FileSet, declarations string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(set, "p.go", "package p\n"+declarations, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
