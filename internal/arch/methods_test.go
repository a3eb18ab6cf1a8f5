package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxMethods is the maximum number of methods of a type, including promoted methods. If a type has
// more than maxMethods methods, the type has too many responsibilities.
const maxMethods = 30

func TestMethods(t *testing.T) {
	for name, n := range methodCounts(t) {
		if n > maxMethods {
			t.Errorf("%s has %d methods, promoted ones included; want at most %d: split it", name, n, maxMethods)
		}
	}
}

// methodCounts returns the number of methods of each type of the main module. Each key of the
// result consists of the package path and the type name.
func methodCounts(t *testing.T) map[string]int {
	t.Helper()
	packages := list(t)
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	counts := map[string]int{}
	for _, p := range packages {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			files = append(files, sourceFile{path: filepath.Join(p.Dir, name)}.parse(t, set, 0))
		}
		checked, err := check(p.ImportPath, set, files, imports)
		if err != nil {
			t.Fatal(err)
		}
		countMethods(checked, counts)
	}
	return counts
}

// check type-checks a package. The check skips the bodies of functions, because a body cannot add
// methods to a type.
func check(path string, set *token.FileSet, files []*ast.File, imports types.Importer) (*types.Package, error) {
	config := types.Config{Importer: imports, IgnoreFuncBodies: true}
	return config.Check(path, set, files, nil)
}

// countMethods sets the number of methods in the map "counts" for each type of a package.
func countMethods(p *types.Package, counts map[string]int) {
	for _, name := range p.Scope().Names() {
		object, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		n := types.NewMethodSet(types.NewPointer(object.Type())).Len()
		if i, ok := object.Type().Underlying().(*types.Interface); ok {
			n = i.NumMethods()
		}
		counts[strings.TrimPrefix(p.Path(), module)+"."+name] = n
	}
}

// goPackage is a package in the output of go list.
type goPackage struct {
	ImportPath, Dir string
	Export          string // the file with the export data of the package
	GoFiles         []string
	Module          *struct{ Main bool }
}

// list returns the packages of the main module and their imports.
func list(t *testing.T) (packages []goPackage) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(fmt.Errorf("read the output of go list: %w", err))
		}
		packages = append(packages, p)
	}
}

func TestCountMethods(t *testing.T) {
	set := token.NewFileSet()
	file := parseText(t, set, `
type I interface { A(); B() }
type both interface { I; C() }
type inner struct{}
func (inner) D() {}
func (*inner) e() {}
type Outer struct { *inner; I }
func (o *Outer) D() {}
type G[T any] struct { Outer }
func (G[T]) F() {}
type alias = Outer
`)
	p, err := check("p", set, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	countMethods(p, got)
	want := map[string]int{"p.I": 2, "p.both": 3, "p.inner": 2, "p.Outer": 4, "p.G": 5}
	if !maps.Equal(got, want) {
		t.Errorf("countMethods = %v; want %v", got, want)
	}
}
