package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// root is the path of the repository, relative to this package.
const root = "../.."

// sourceFile is a Go file of the repository.
type sourceFile struct {
	path string // relative to this package
	pkg  string // the folder of the file's package, relative to the repository, with forward slashes
	test bool
}

// sourceFiles returns the Go files of every module of the repository.
func sourceFiles(t *testing.T) (files []sourceFile) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			files = append(files, sourceFile{path: file, pkg: path.Dir(filepath.ToSlash(rel)), test: strings.HasSuffix(name, "_test.go")})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// parse parses the file and adds its positions to a file set.
func (f sourceFile) parse(t *testing.T, set *token.FileSet, mode parser.Mode) *ast.File {
	t.Helper()
	source, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(set, f.path, source, mode|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
