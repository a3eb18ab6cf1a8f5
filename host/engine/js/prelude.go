package js

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/dop251/goja"

	sdkjs "github.com/toolrun/toolrun/sdk/js"
)

//go:embed webapi/*.js
var webapi embed.FS

// preludeModule is a compiled module of the prelude.
type preludeModule struct {
	program  *goja.Program
	requires bool // other modules, by require
}

// errorsModule is the module of MemoryAccessError, which gets the Error that it extends.
const errorsModule = "errors.js"

// modulePrograms are the modules of the prelude by name, each compiled when it is first needed in the process. Each
// evaluates to a function of exports and require; that their names begin with "toolrun:" keeps their frames out of the
// author's stack.
var modulePrograms = sync.OnceValue(func() map[string]func() preludeModule {
	programs := make(map[string]func() preludeModule)
	for _, files := range []fs.FS{sdkjs.Files, webapi} {
		names, err := fs.Glob(files, "*.js")
		if err == nil && len(names) == 0 {
			names, err = fs.Glob(files, "*/*.js")
		}
		if err != nil {
			panic(err)
		}
		for _, name := range names {
			programs[path.Base(name)] = sync.OnceValue(func() preludeModule {
				source, err := fs.ReadFile(files, name)
				if err != nil {
					panic(err)
				}
				return compileModule(path.Base(name), string(source))
			})
		}
	}
	return programs
})

func compileModule(name, source string) preludeModule {
	parameters := "exports, require"
	if name == errorsModule {
		parameters += ", Error"
	}
	return preludeModule{
		program:  goja.MustCompile("toolrun:"+name, "(function ("+parameters+") {"+source+"\n})", false),
		requires: strings.Contains(source, "require('"),
	}
}

// module returns the exports of a module of the prelude, which runs when it is first needed.
func (r *run) module(name string) *goja.Object {
	if exports, ok := r.modules[name]; ok {
		return exports
	}
	module := modulePrograms()[name]()
	wrapper, err := r.vm.RunProgram(module.program)
	if err != nil {
		panic(err)
	}
	exports := r.vm.CreateObject(nil) // with no prototype, an assignment ends in no setter of the guest's
	arguments := []goja.Value{exports, r.requireFor(module)}
	if name == errorsModule {
		arguments = append(arguments, r.makeErrorBase())
	}
	call, _ := goja.AssertFunction(wrapper)
	if _, err := call(goja.Undefined(), arguments...); err != nil {
		panic(err) // the guest is out of stack, or was stopped: no error of the module's
	}
	if r.modules == nil {
		r.modules = make(map[string]*goja.Object)
	}
	r.modules[name] = exports
	return exports
}

// requireFor is the require of a module, where it has any: a native function costs a run more than it seems.
func (r *run) requireFor(module preludeModule) goja.Value {
	if !module.requires {
		return goja.Undefined()
	}
	if r.requireFunc == nil {
		r.requireFunc = r.native("require", r.require)
	}
	return r.requireFunc
}

func (r *run) require(call goja.FunctionCall) goja.Value {
	return r.module(path.Base(call.Argument(0).String()))
}

// create calls a function of a module that makes something over a host, which is an object of natives.
func (r *run) create(module, function string, arguments ...goja.Value) goja.Value {
	call, _ := goja.AssertFunction(r.module(module).Get(function))
	value, err := call(goja.Undefined(), arguments...)
	if err != nil {
		panic(err)
	}
	return value
}

// hostObject makes an object of natives.
func (r *run) hostObject(functions map[string]nativeFunc) *goja.Object {
	members := make(map[string]func() goja.Value, len(functions))
	for name, function := range functions {
		members[name] = func() goja.Value { return r.native(name, function) }
	}
	return r.lazyObject(nil, members) // its users know the names
}

// mustParse makes a guest's value of a value of ours.
func (r *run) mustParse(value any) goja.Value {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	parsed, err := r.parseJSON(text)
	if err != nil {
		panic(err)
	}
	return parsed
}
