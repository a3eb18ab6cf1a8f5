package bundle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// folder returns a file system with the files of a tool.
func folder(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// source returns a tool. The tool is either a single file or a file in a folder.
func source(path, code string, files map[string]string, params ...string) engine.Source {
	src := engine.Source{Path: path, Code: []byte(code), Params: params}
	if files != nil {
		src.Files = folder(files)
	}
	return src
}

func build(t *testing.T, src engine.Source) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Build(t.Context(), src)
	if err != nil {
		var f *abi.Fault
		if errors.As(err, &f) {
			t.Fatalf("Build(%s) = %s:%d:%d: %v (%s)", src.Path, f.File, f.Line, f.Column, f, f.Hint)
		}
		t.Fatalf("Build(%s) = %v", src.Path, err)
	}
	return b
}

// refused returns the fault of a tool that must fail to build.
func refused(t *testing.T, src engine.Source) *abi.Fault {
	t.Helper()
	b, err := bundle.Build(t.Context(), src)
	if err == nil {
		t.Fatalf("Build(%q) built this:\n%s", src.Code, b.Code)
	}
	var f *abi.Fault
	if !errors.As(err, &f) || f.Code != abi.SourceInvalid {
		t.Fatalf("Build(%q) = %v; want %s", src.Code, err, abi.SourceInvalid)
	}
	return f
}

// run executes a bundle as an engine would and returns its result as JSON.
func run(b *bundle.Bundle, input, context string) (string, error) {
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	tree, err := parser.ParseFile(nil, "tool", b.Code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return "", fmt.Errorf("parse: %w", err)
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return "", fmt.Errorf("compile: %w", err)
	}
	if err := globals(vm); err != nil {
		return "", err
	}
	entry, err := vm.RunProgram(program)
	if err != nil {
		return "", err
	}
	call, ok := goja.AssertFunction(entry)
	if !ok {
		return "", errors.New("the completion value is not a function")
	}
	result, err := call(goja.Undefined(), value(vm, input), value(vm, context))
	if thrown, ok := errors.AsType[*goja.Exception](err); ok {
		return "", &rejection{thrown.Value()}
	}
	if err != nil {
		return "", err
	}
	if p, ok := result.Export().(*goja.Promise); ok {
		switch p.State() {
		case goja.PromiseStateRejected:
			return "", &rejection{p.Result()}
		case goja.PromiseStatePending:
			return "", errors.New("the result never settles")
		}
		result = p.Result()
	}
	text, err := json.Marshal(result.Export())
	return string(text), err
}

// rejection is an error that contains a value that a tool threw.
type rejection struct{ value goja.Value }

func (r *rejection) Error() string { return r.value.String() }

// stack returns goja's call stack of the thrown value.
func (r *rejection) stack() string { return r.value.(*goja.Object).Get("stack").String() }

func value(vm *goja.Runtime, text string) goja.Value {
	parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
	v, err := parse(goja.Undefined(), vm.ToValue(text))
	if err != nil {
		panic(err)
	}
	return v
}

// globals defines a test double for the guest's global "memory". The test double contains a few
// records.
func globals(vm *goja.Runtime) error {
	_, err := vm.RunString(`
		var logs = [];
		var console = { log(...args) { logs.push(args.join(" ")) } };
		var stored = { userPrefs: { preferences: { language: "de" }, lastVisit: "now" },
			sessionMeta: { metadata: { userId: "u1", channel: "web" }, sessionInfo: { sessionId: "s1" },
				artifacts: [{ filename: "a.pdf", mimetype: "application/pdf", downloadUrl: "u", isActive: true }] } };
		var memory = {
			get_content: async (store) => stored[store] ?? null,
			set_content: async (store, value) => { stored[store] = { ...stored[store], ...value }; return { success: true } },
			delete_content: async (store) => { delete stored[store] },
		};`)
	return err
}

// answers builds and runs a tool and compares the tool's result with the expected result.
func answers(t *testing.T, src engine.Source, input, want string) *bundle.Bundle {
	t.Helper()
	b := build(t, src)
	got, err := run(b, input, `{"env":{"REGION":"eu"},"runId":"r1"}`)
	if err != nil {
		t.Fatalf("run = %v\n%s", err, b.Code)
	}
	if got != want {
		t.Fatalf("run = %s; want %s\n%s", got, want, b.Code)
	}
	return b
}
