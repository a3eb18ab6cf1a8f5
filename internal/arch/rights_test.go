package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// declaredGrants lists the exported fields that contain grants from a file or a caller. In each of
// these fields, nil means that there are no grants. The rights of a transaction are not in the
// list, because they are a memory.Authority.
var declaredGrants = []string{"declare.Prompt.Grants", "declare.Tool.Grants", "host.AdHocTool.Grants"}

// TestRightsAreValues checks that no code treats a missing value as full rights.
func TestRightsAreValues(t *testing.T) {
	found, isStruct := []string{}, false
	set := token.NewFileSet()
	for _, file := range sourceFiles(t) {
		if file.test {
			continue
		}
		parsed := file.parse(t, set, 0)
		for _, mistake := range nilRights(parsed) {
			t.Errorf("%s: %s", file.path, mistake)
		}
		for _, field := range grantFields(parsed) {
			found = append(found, path.Base(file.pkg)+"."+field)
		}
		isStruct = isStruct || file.pkg == "host/memory" && declaresStruct(parsed, "Authority")
	}
	slices.Sort(found)
	if !slices.Equal(found, declaredGrants) {
		t.Errorf("the exported fields of grants are %q; want %q: rights are a memory.Authority", found, declaredGrants)
	}
	if !isStruct {
		t.Error("memory.Authority is not a struct: it could be nil")
	}
}

// TestRightsAreValuesFails checks that TestRightsAreValues detects violations.
func TestRightsAreValuesFails(t *testing.T) {
	const source = `package p
type Tx struct { Grants []memory.Grant; Scopes, Rights []Grant; Authority memory.Authority; grants []Grant }
type tx struct { Grants []Grant }
func f(tx Tx, authority *Authority) bool { return tx.Grants == nil || nil != authority || (tx.grants) != nil || other == nil }`
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := grantFields(parsed), []string{"Tx.Grants", "Tx.Scopes", "Tx.Rights"}; !slices.Equal(got, want) {
		t.Errorf("grantFields = %q; want %q", got, want)
	}
	if got := nilRights(parsed); len(got) != 3 {
		t.Errorf("nilRights = %q; want three", got)
	}
	if declaresStruct(parsed, "Authority") || !declaresStruct(parsed, "Tx") {
		t.Error("declaresStruct does not find exactly the type Tx")
	}
}

// nilRights returns the expressions that compare grants or authorities with nil.
func nilRights(file *ast.File) (mistakes []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.EQL && b.Op != token.NEQ {
			return true
		}
		x, y := nameOf(b.X), nameOf(b.Y)
		if x == "nil" {
			x, y = y, x
		}
		if y == "nil" && slices.Contains([]string{"grants", "authority"}, strings.ToLower(x)) {
			mistakes = append(mistakes, fmt.Sprintf("%s is compared with nil: no rights is an empty value, and full rights are memory.Operator()", x))
		}
		return true
	})
	return mistakes
}

// nameOf returns the name of a variable or a field, or "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// grantFields searches exported structs for exported fields whose type is a slice of grants. The
// result contains each field in the form "Type.Field".
func grantFields(file *ast.File) (fields []string) {
	for name, s := range structs(file) {
		if !ast.IsExported(name) {
			continue
		}
		for _, field := range s.Fields.List {
			slice, ok := field.Type.(*ast.ArrayType)
			if !ok || nameOf(slice.Elt) != "Grant" {
				continue
			}
			for _, id := range field.Names {
				if id.IsExported() {
					fields = append(fields, name+"."+id.Name)
				}
			}
		}
	}
	return fields
}

func declaresStruct(file *ast.File, name string) bool {
	_, ok := structs(file)[name]
	return ok
}

// structs returns a map from names to the struct types that a file declares.
func structs(file *ast.File) map[string]*ast.StructType {
	found := map[string]*ast.StructType{}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if named, ok := spec.(*ast.TypeSpec); ok {
				if s, ok := named.Type.(*ast.StructType); ok {
					found[named.Name.Name] = s
				}
			}
		}
	}
	return found
}
