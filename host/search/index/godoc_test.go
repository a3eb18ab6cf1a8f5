package index_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// document is a named text that a search can find.
type document struct{ name, text string }

// goDocuments returns the documentation of the standard library of Go. The result contains a
// document for each package, and for each exported function, type and method.
func goDocuments(t testing.TB) []document {
	t.Helper()
	source := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(source); err != nil {
		t.Skip("the source of Go's standard library is not installed")
	}
	var documents []document
	for _, folder := range goPackages(t, os.DirFS(source)) {
		documents = append(documents, packageDocuments(t, filepath.Join(source, folder), folder)...)
	}
	slices.SortFunc(documents, func(a, b document) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(documents, func(a, b document) bool { return a.name == b.name })
}

// goPackages returns the folders of the public packages.
func goPackages(t testing.TB, source fs.FS) (folders []string) {
	t.Helper()
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch path.Base(name) {
		case "internal", "testdata", "vendor", "cmd", "builtin", "syscall", "unsafe", "simd":
			return fs.SkipDir
		}
		folders = append(folders, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// packageDocuments returns the documents of a package.
func packageDocuments(t testing.TB, folder, importPath string) (documents []document) {
	t.Helper()
	fset := token.NewFileSet()
	files := parsed(t, fset, folder)
	if len(files) == 0 {
		return nil
	}
	p, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, comment string) {
		if comment = strings.Join(strings.Fields(comment), " "); comment != "" {
			documents = append(documents, document{importPath + name, importPath + name + ": " + comment})
		}
	}
	add("", p.Doc)
	addFuncs := func(prefix string, functions []*doc.Func) {
		for _, f := range functions {
			add(prefix+f.Name, f.Doc)
		}
	}
	addFuncs(".", p.Funcs)
	for _, typ := range p.Types {
		add("."+typ.Name, typ.Doc)
		addFuncs(".", typ.Funcs)
		addFuncs("."+typ.Name+".", typ.Methods)
	}
	return documents
}

// parsed returns the parsed source files of a package, except the test files. The function ignores
// build constraints, so that the documents are the same on every machine.
func parsed(t testing.TB, fset *token.FileSet, folder string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" || len(files) > 0 && f.Name.Name != files[0].Name.Name {
			continue
		}
		files = append(files, f)
	}
	return files
}
