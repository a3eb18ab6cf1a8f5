package bindgen

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolrun/toolrun/abi"
)

// file is a generated file, or a file that contains generated sections.
type file struct {
	path string
	// whole is a function that renders the whole file. sections contains functions that render
	// sections of the file.
	whole    func(g *generator) (string, error)
	sections []section
}

// files lists the files that depend on the operation table.
var files = [...]file{
	{path: "abi/ABI.md", sections: []section{
		{"operations", pageMarks, pageFunctions(abi.MemoryModule)}, {"models", pageMarks, pageFunctions(abi.ModelModule)}, {"replies", pageMarks, (*generator).pageReplies}}},
	{path: "abi/guest/assemblyscript/operations.ts", whole: (*generator).assemblyScript},
	{path: "abi/guest/c/toolrun.h", sections: []section{
		{"operations", cMarks, (*generator).cPrototypes}, {"imports", cMarks, (*generator).cImports}}},
	{path: "abi/guest/c/toolrun.c", sections: []section{{"operations", cMarks, (*generator).cFunctions}}},
	{path: "abi/guest/c/stub/toolrun_stub.c", sections: []section{{"imports", cMarks, (*generator).cStub}}},
	{path: "abi/guest/go/internal/imports/operations.go", whole: (*generator).goDouble},
	{path: "abi/guest/go/internal/imports/operations_wasip1.go", whole: (*generator).goImports},
	{path: "abi/guest/go/operations.go", whole: (*generator).goFunctions},
	{path: "sdk/js/index.d.ts", sections: []section{{"operations", lineMarks, (*generator).typeScript}}},
	{path: "sdk/python-wasm/toolrun/memory.pyi", sections: []section{{"operations", hashMarks, pythonOf(abi.MemoryModule)}}},
	{path: "sdk/python-wasm/toolrun/model.pyi", sections: []section{{"operations", hashMarks, pythonOf(abi.ModelModule)}}},
}

// generator renders declarations for a table of operations.
type generator struct {
	table abi.Table
	tree  fs.FS // the file tree of the module, which contains handwritten declarations
}

// Generate maps the path of each file that depends on the operation table to the content of the
// file. The argument "tree" is the current module. If a file in the result has no content, the file
// must not exist.
func Generate(table abi.Table, tree fs.FS) (map[string][]byte, error) {
	if err := check(table); err != nil {
		return nil, err
	}
	g, generated := &generator{table, tree}, map[string][]byte{}
	for _, f := range files {
		text, err := g.render(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		generated[f.path] = []byte(text)
	}
	return generated, nil
}

func (g *generator) render(f file) (string, error) {
	if f.whole != nil {
		return f.whole(g)
	}
	content, err := fs.ReadFile(g.tree, f.path)
	if err != nil {
		return "", err
	}
	text := string(content)
	for _, s := range f.sections {
		inner, err := s.render(g)
		if err != nil {
			return "", err
		}
		if text, err = s.replace(text, inner); err != nil {
			return "", err
		}
	}
	return text, nil
}

// check returns an error if the code that a table generates would be invalid. The error lists all
// mistakes in the table.
func check(table abi.Table) error {
	var errs []error
	objects := map[string]abi.Type{}
	for i, op := range table {
		if !isName(op.Name) {
			errs = append(errs, fmt.Errorf("invalid operation name %q", op.Name))
		}
		if _, first := table[:i].Lookup(op.Name); first {
			errs = append(errs, fmt.Errorf("duplicate operation %s", op.Name))
		}
		errs = append(errs, checkParams(op))
		for _, t := range objectsOf(op) {
			if known, ok := objects[t.Name]; ok && !sameObject(known, t) {
				errs = append(errs, fmt.Errorf("%s: another operation has a type %s with different fields", op.Name, t.Name))
			}
			objects[t.Name] = t
		}
	}
	return errors.Join(errs...)
}

func checkParams(op abi.Operation) error {
	var errs []error
	if len(op.Params) > abi.MaxParams {
		errs = append(errs, fmt.Errorf("%s has %d parameters; the limit is %d", op.Name, len(op.Params), abi.MaxParams))
	}
	optional := false
	for _, p := range op.Params {
		if optional && p.Required && (op.Params[0].Required || len(op.Forms) == 0) {
			errs = append(errs, fmt.Errorf("%s: the required parameter %s follows an optional one", op.Name, p.Name))
		}
		optional = optional || !p.Required
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if !isName(name) {
				errs = append(errs, fmt.Errorf("%s: invalid parameter name %q", op.Name, name))
			}
		}
	}
	return errors.Join(errs...)
}
