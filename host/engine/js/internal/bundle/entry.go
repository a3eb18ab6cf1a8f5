package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/abi"
)

// The script wraps esbuild's output in one function. Each call to the function evaluates the whole
// tool, so the top level of a tool runs once per run. Every run executes this function, so the
// function contains only code that the tool needs.
const (
	prologueLines = 2

	// symbols is JavaScript code that defines symbols. Lowered code uses these symbols, but goja
	// does not define them. The symbols are created with Symbol.for, because esbuild's helpers also
	// use Symbol.for.
	symbols = `for (const name of ["asyncIterator", "dispose", "asyncDispose"]) ` +
		`if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for("Symbol." + name) }); `
)

// enclose returns the script that wraps a bundle.
func (e *entry) enclose(code string) string {
	define := ""
	if strings.Contains(code, "asyncIterator") || strings.Contains(code, "ispose") {
		define = symbols
	}
	if e.format == api.FormatESModule {
		// Modules can use await at their top level. Unlike calls to methods of Promise, await works
		// even if the guest has replaced the global Promise.
		return "(async function (__input, __context) {\n" + define + "let __entry;\n" + code + "return await __entry(__input, __context);\n})\n"
	}
	return "(function (__input, __context) {\n" + define + "let __entry;\n" + code + "return __entry(__input, __context);\n})\n"
}

// entry is the source file from which esbuild starts. The code in the file sets __entry to the
// function that runs the tool.
type entry struct {
	tool     *tool
	form     Form
	format   api.Format
	code     string
	warnings []string
	inputs   []string // the inputs that the tool reads as $name
	imports  int      // the number of lines of imports at the beginning of code
	body     int      // the number of lines before the author's body; 0 if the code does not contain the body
}

// entry detects the form of a tool and wraps the tool's source. The wrapper depends on the form.
func (t *tool) entry(params []string) (*entry, *abi.Fault) {
	if t.scan.exports {
		return t.module(), nil
	}
	_, rest := hoist(t.code, t.scan.imports)
	s, fault := t.parseBody(rest)
	switch {
	case fault != nil:
		return nil, fault
	case s.returns:
		return t.wrap(Body, s, params), nil
	case s.strange:
		return nil, invalid(location{file: t.path}, "the module does not export an entry function").WithHint(entryHint)
	case s.exports:
		return t.module(), nil
	case s.entry != "":
		return t.wrap(s.entry, s, params), nil
	}
	e := t.wrap(Body, s, params)
	switch {
	case s.called != "":
		e.warnings = append(e.warnings, fmt.Sprintf("the script calls %[1]s but returns nothing: end the script with `return %[1]s(...)`", s.called))
	case s.functions && !s.acts:
		e.warnings = append(e.warnings, "the script defines functions, but does not call a function or return a value: name a function `main`, or call a function and return the result")
	}
	return e, nil
}

// entryExports contains the names of the exports that can be the entry, in order of preference.
var entryExports = []string{"default", string(Main), string(Execute), "handler"}

const entryHint = "write `export default async function (input, context)`, or export a function named `main`, `execute` or `handler`"

// ownModule is the module name of the author's file. Only the generated entry can use this name in
// an import.
const ownModule = "toolrun:entry"

// module returns the entry for a file that exports its entry function. An exported function
// "handler" has the parameters of a cloud function: event and context. If the function has a third
// parameter, this parameter is a callback for the result.
func (t *tool) module() *entry {
	return &entry{tool: t, form: Module, format: api.FormatESModule, code: `import * as tool from "` + ownModule + `";
const own = tool.default;
let run = typeof own === "function" ? own : tool.main ?? tool.execute ?? own?.main ?? own?.execute;
if (run == null) {
  run = tool.handler ?? own?.handler;
  if (run?.length > 2) run = ((handler) => (event, context) => new Promise((resolve, reject) => {
    const answer = handler.call(own, event, context, (error, result) => error == null ? resolve(result) : reject(error));
    if (typeof answer?.then === "function") answer.then(resolve, reject);
  }))(run);
}
if (typeof run !== "function") throw new TypeError("the module does not export an entry function: ` + entryHint + `");
__entry = (input, context) => run.call(own, input, context);
`}
}

// wrap returns the entry for a file whose statements run as the body of a function. An outer
// function has the inputs as parameters, so the file itself can declare the same names. A file can
// declare an input with var, as in "var a = a || 1". The inner function then has this input as a
// parameter too, so that the statement can read the input.
func (t *tool) wrap(form Form, s *shape, params []string) *entry {
	e := &entry{tool: t, form: form, format: api.FormatIIFE}
	declarations, rest := hoist(t.code, t.scan.imports)
	if declarations != "" {
		e.format = api.FormatESModule
		e.imports = countLines(declarations)
		declarations += "\n"
	}
	names, values := t.bindings(params)
	for _, name := range names {
		if input, ok := strings.CutPrefix(name, "$"); ok {
			e.inputs = append(e.inputs, input)
		}
	}
	inner := strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !s.vars[n] }), ", ")
	call := ""
	if form != Body {
		call = "return " + string(form) + "(__input, __context);\n"
	}
	bind := ""
	if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, "__own(") }) {
		bind = "const __own = (name) => Object.hasOwn(__input, name) ? __input[name] : void 0; "
	}
	function := "function"
	if t.scan.words["await"] > 0 {
		function = "async function"
	}
	e.body = e.imports + 1
	e.code = declarations +
		"__entry = (__input, __context) => { " + bind +
		"return (function (" + strings.Join(names, ", ") + ") { return " + function + " (" + inner + ") {\n" +
		rest + "\n" +
		call + "}(" + inner + "); })(" + strings.Join(values, ", ") + "); };\n"
	return e
}

// bindings returns the names by which the source uses inputs. For each name, the method also
// returns an expression for the value. The method omits names that the source does not contain, and
// names that the source imports.
func (t *tool) bindings(params []string) (names, values []string) {
	bound := map[string]string{"input": "__input", "context": "__context", "env": "__context?.env"}
	for word := range t.scan.words {
		if name, ok := strings.CutPrefix(word, "$"); ok && name != "" && isIdentifier(word) {
			bound[word] = own(name)
		}
	}
	for _, p := range params {
		if isIdentifier(p) && !unbindable[p] {
			bound[p] = own(p)
		}
	}
	for _, span := range t.scan.imports {
		for _, n := range span.names {
			delete(bound, n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		if t.scan.words[name] > 0 {
			names = append(names, name)
			values = append(values, bound[name])
		}
	}
	return names, values
}

func own(name string) string { return "__own(" + quote(name) + ")" }

// isIdentifier reports whether a name can be declared as a parameter. isIdentifier does not support
// names that contain escapes or non-ASCII characters.
func isIdentifier(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isWordByte(c) || c == '#' || c == '\\' || c >= 0x80 || i == 0 && isDigit(c) {
			return false
		}
	}
	return name != ""
}

// author maps a position in a source that esbuild read to a position in the author's files.
func (e *entry) author(source string, line, column int) (location, bool) {
	if file, ok := strings.CutPrefix(source, namespace+":"); ok {
		return location{file, line, column}, true
	}
	switch {
	case path.Base(source) != entryName || e.body == 0:
		return location{}, false
	case line <= e.imports:
		return e.tool.within(line, column)
	}
	return e.tool.within(line-e.body, column)
}

func (e *entry) location(l *api.Location) (location, bool) { return locationOf(l, e.author) }

// within adds the path of the tool's file to a position. If the file does not have the line, within
// returns false.
func (t *tool) within(line, column int) (location, bool) {
	if line < 1 || line > t.lines {
		return location{}, false
	}
	return location{t.path, line, column}, true
}

// end returns the position of the end of the file's text.
func (t *tool) end() location {
	return locationIn(t.path, t.code, len(strings.TrimRight(t.code, " \t\r\n")))
}
