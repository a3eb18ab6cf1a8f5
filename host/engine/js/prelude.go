package js

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"sync"

	"github.com/dop251/goja"

	sdkjs "github.com/toolrun/toolrun/sdk/js"
)

//go:embed webapi/*.js
var webapi embed.FS

// modulePrograms are the compiled modules of the prelude by name. Each evaluates to a function of exports and
// require; that their names begin with "toolrun:" keeps their frames out of the author's stack.
var modulePrograms = sync.OnceValue(func() map[string]*goja.Program {
	programs := make(map[string]*goja.Program)
	for _, files := range []fs.FS{sdkjs.Files, webapi} {
		names, err := fs.Glob(files, "*.js")
		if err == nil && len(names) == 0 {
			names, err = fs.Glob(files, "*/*.js")
		}
		if err != nil {
			panic(err)
		}
		for _, name := range names {
			source, err := fs.ReadFile(files, name)
			if err != nil {
				panic(err)
			}
			code := "(function (exports, require) {" + string(source) + "\n})"
			programs[path.Base(name)] = goja.MustCompile("toolrun:"+path.Base(name), code, false)
		}
	}
	return programs
})

// module returns the exports of a module of the prelude, which runs when it is first needed.
func (r *run) module(name string) *goja.Object {
	if exports, ok := r.modules[name]; ok {
		return exports
	}
	wrapper, err := r.vm.RunProgram(modulePrograms()[name])
	if err != nil {
		panic(err)
	}
	exports := r.vm.NewObject()
	call, _ := goja.AssertFunction(wrapper)
	if r.requireFunc == nil {
		r.requireFunc = r.native("require", r.require)
	}
	if _, err := call(goja.Undefined(), exports, r.requireFunc); err != nil {
		panic(err) // the guest is out of stack, or was stopped: no error of the module's
	}
	if r.modules == nil {
		r.modules = make(map[string]*goja.Object)
	}
	r.modules[name] = exports
	return exports
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
	object := r.vm.NewObject()
	for name, function := range functions {
		r.define(object, name, r.native(name, function))
	}
	return object
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
