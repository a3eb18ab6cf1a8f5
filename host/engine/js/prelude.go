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
	requires bool // true if the module loads other modules with the function "require"
}

// errorsModule is the module that defines MemoryAccessError. errorsModule receives the Error class
// that MemoryAccessError extends.
const errorsModule = "errors.js"

// modulePrograms maps the names of the prelude's modules to functions that return the compiled
// modules. The first call for a module in a process compiles the module. The completion value of a
// module's program is a function with the parameters "exports" and "require". The file name of a
// module has the prefix "toolrun:", which excludes frames of the module from the author's stack.
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

// prelude contains the modules of the prelude that a run has loaded.
type prelude struct {
	*realm
	exports     map[string]*goja.Object // of the modules
	requireFunc goja.Value              // the function require; nil until a module needs it
}

// module returns the exports of a module of the prelude. The first call for a module runs the
// module.
func (p *prelude) module(name string) *goja.Object {
	if exports, ok := p.exports[name]; ok {
		return exports
	}
	module := modulePrograms()[name]()
	wrapper, err := p.vm.RunProgram(module.program)
	if err != nil {
		panic(err)
	}
	exports := p.vm.CreateObject(nil) // without a prototype, it inherits no setters of the guest
	arguments := []goja.Value{exports, p.requireFor(module)}
	if name == errorsModule {
		arguments = append(arguments, makeErrorBase(p.realm))
	}
	call, _ := goja.AssertFunction(wrapper)
	if _, err := call(goja.Undefined(), arguments...); err != nil {
		panic(err) // a stack overflow or the end of the run; the modules themselves do not fail
	}
	if p.exports == nil {
		p.exports = make(map[string]*goja.Object)
	}
	p.exports[name] = exports
	return exports
}

// requireFor returns the function "require" for a module. For a module that does not use "require",
// requireFor returns undefined, because it is expensive to create a native function.
func (p *prelude) requireFor(module preludeModule) goja.Value {
	if !module.requires {
		return goja.Undefined()
	}
	if p.requireFunc == nil {
		p.requireFunc = p.native("require", p.require)
	}
	return p.requireFunc
}

func (p *prelude) require(call goja.FunctionCall) goja.Value {
	return p.module(path.Base(call.Argument(0).String()))
}

// create calls a function of a module. The called function receives a host object with native
// functions and creates an object for the guest.
func (p *prelude) create(module, function string, arguments ...goja.Value) goja.Value {
	call, _ := goja.AssertFunction(p.module(module).Get(function))
	value, err := call(goja.Undefined(), arguments...)
	if err != nil {
		panic(err)
	}
	return value
}

// mustParse converts a Go value to a guest value.
func mustParse(r *realm, value any) goja.Value {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	parsed, err := parseJSON(r, text)
	if err != nil {
		panic(err)
	}
	return parsed
}
