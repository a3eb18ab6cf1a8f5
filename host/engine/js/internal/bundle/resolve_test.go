package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// packages contains the files of the test tools. The files are sources, and a folder node_modules
// with packages of all common layouts.
var packages = map[string]string{
	"lib/add.js":                                     `export const add = (a, b) => a + b`,
	"lib/index.js":                                   `export { add } from "./add"; export const name = "lib"`,
	"lib/typed.ts":                                   `import type { T } from "./types"; export const typed = (x: T): string => "typed" + x`,
	"lib/types.ts":                                   `export type T = number`,
	"lib/old.cjs":                                    `exports.old = () => "old"`,
	"lib/data.json":                                  `{"rate": 0.5, "nested": {"a": [1, 2]}}`,
	"lib/waits.mjs":                                  `export const v = await Promise.resolve("waited")`,
	"lib/both.js":                                    `export const from = "js"`,
	"lib/both.ts":                                    `export const from = "ts"`,
	"lib/cycle/a.js":                                 `import { b } from "./b.js"; export const a = () => "a" + b()`,
	"lib/cycle/b.js":                                 `import { a } from "./a.js"; export const b = () => typeof a`,
	"node_modules/esm/package.json":                  `{"name": "esm", "type": "module", "module": "m.js", "main": "missing.js"}`,
	"node_modules/esm/m.js":                          `export default "esm default"; export const named = "esm named"`,
	"node_modules/cjs/package.json":                  `{"main": "./lib/main"}`,
	"node_modules/cjs/lib/main.js":                   `const dep = require("../dep.json"); module.exports = function () { return "cjs " + dep.v }; module.exports.extra = 1`,
	"node_modules/cjs/dep.json":                      `{"v": 3}`,
	"node_modules/plain/index.js":                    `module.exports = { plain: true }`,
	"node_modules/@scope/pkg/package.json":           `{"exports": {".": "./a.js", "./sub": "./b.js", "./deep/*": "./deep/*.js", "./deep/secret": null, "./out": "../../lib/add.js", "./out2": "./../../../lib/add.js"}}`,
	"node_modules/@scope/pkg/a.js":                   `export const v = "scoped"`,
	"node_modules/@scope/pkg/b.js":                   `export const v = "scoped sub"`,
	"node_modules/@scope/pkg/deep/x.js":              `export const v = "deep x"`,
	"node_modules/@scope/pkg/deep/secret.js":         `export const v = "secret"`,
	"node_modules/dual/package.json":                 `{"exports": {"types": "./x.d.ts", "node": "./node.js", "import": "./i.mjs", "require": "./r.cjs"}, "imports": {"#inner": {"node": "./node.js", "default": "./inner.js"}, "#dep": "plain"}}`,
	"node_modules/dual/i.mjs":                        `import inner from "#inner"; import dep from "#dep"; export const kind = "import " + inner + dep.plain`,
	"node_modules/dual/r.cjs":                        `exports.kind = "require"`,
	"node_modules/dual/node.js":                      `import "node:fs"`,
	"node_modules/dual/inner.js":                     `export default "inner "`,
	"node_modules/web/package.json":                  `{"main": "node.js", "browser": {"./node.js": "./web.js", "./gone.js": false, "fs": false, "plain": "./own.js"}}`,
	"node_modules/web/node.js":                       `require("fs"); exports.v = "node"`,
	"node_modules/web/web.js":                        `exports.v = "web " + Object.keys(require("fs")).length + Object.keys(require("./gone")).length + require("plain").own`,
	"node_modules/web/gone.js":                       `throw new Error("gone")`,
	"node_modules/web/own.js":                        `exports.own = "own"`,
	"node_modules/weblist/package.json":              `{"main": "node.js", "browser": "web.js"}`,
	"node_modules/weblist/node.js":                   `exports.v = "node"`,
	"node_modules/weblist/web.js":                    `exports.v = "web"`,
	"node_modules/maybe/index.js":                    `let c; try { c = require("zlib") } catch (e) { c = e.code } module.exports = c`,
	"node_modules/outer/index.js":                    `module.exports = require("inner")`,
	"node_modules/outer/node_modules/inner/index.js": `module.exports = "nested inner"`,
	"node_modules/pure/package.json":                 `{"sideEffects": false, "module": "index.js"}`,
	"node_modules/pure/index.js":                     `export { used } from "./used"; export { unused } from "./unused"`,
	"node_modules/pure/used.js":                      `export const used = "used"`,
	"node_modules/pure/unused.js":                    `console.log("NEVER BUNDLED"); export const unused = 1`,
	"node_modules/events/index.js":                   `module.exports = "the events package"`,
	"node_modules/broken/package.json":               `{"main": `,
	"node_modules/ghost/package.json":                `{"exports": "./ghost.js"}`,
	"node_modules/env/index.js":                      `module.exports = process.env.NODE_ENV + typeof global`,
	"node_modules/old/index.js":                      `module.exports = /(?<a>x)/.exec("x").groups.a; //# sourceMappingURL=index.js.map`,
}

func TestImports(t *testing.T) {
	for _, tt := range []struct{ name, path, code, want string }{
		{"relative", "tool.js", `import { add } from "./lib/add.js"; return add($a, 2)`, `3`},
		{"without an extension", "tool.js", `import { add } from "./lib/add"; return add($a, 2)`, `3`},
		{"folder", "tool.js", "import { add, name } from './lib'\nreturn [add(1, 1), name]", `[2,"lib"]`},
		{"two imports on lines", "tool.js", "import {\n  add,\n} from './lib'\nimport d from './lib/data.json' with { type: 'json' };\nreturn add(d.rate, 1)", `1.5`},
		{"import for its effect", "tool.js", "import './lib/add.js'; import \"./lib\"\nreturn 1", `1`},
		{"imported name is not an input", "tool.js", `import $a, { extra as b } from "cjs"; return [$a(), b]`, `["cjs 3",1]`},
		{"renamed import is an input", "tool.js", `import { add as plus } from "./lib"; var add = $a; return plus(add, 1)`, `2`},
		{"import after code", "tool.js", "const x = 1; import { add } from './lib'; return add(x, x)", `2`},
		{"main with imports", "tool.js", "import { add } from './lib'\nasync function main(i) { return add(i.a, 5) }", `6`},
		{"export with imports", "tool.mjs", "import { add } from './lib'\nexport default (i) => add(i.a, 6)", `7`},
		{"json", "tool.js", `import data from "./lib/data.json"; return data.nested.a`, `[1,2]`},
		{"typescript", "tool.ts", `import { typed } from "./lib/typed"; const n: number = 1; return typed(n)`, `"typed1"`},
		{"typescript as .js", "tool.ts", `import { typed } from "./lib/typed.js"; return typed(1)`, `"typed1"`},
		{"typescript first", "tool.js", `import { from } from "./lib/both"; return from`, `"ts"`},
		{"type import", "tool.ts", "import type { T } from './lib/types'\nimport { type T as U } from './lib/types'\nconst x: T = 1 as U\nreturn x", `1`},
		{"import equals", "tool.ts", "import old = require('./lib/old.cjs')\nreturn old.old()", `"old"`},
		{"require", "tool.js", `const { old } = require("./lib/old.cjs"); return old()`, `"old"`},
		{"require json", "tool.js", `return require("./lib/data.json").rate`, `0.5`},
		{"top level await", "tool.js", "import { v } from './lib/waits.mjs'\nreturn v", `"waited"`},
		{"dynamic import", "tool.js", `const { add } = await import("./lib/add.js"); return add(1, 1)`, `2`},
		{"dynamic import in a module", "tool.js", `export default async () => (await import("./lib/waits.mjs")).v`, `"waited"`},
		{"cycle", "tool.js", `import { a } from "./lib/cycle/a.js"; return a()`, `"afunction"`},
		{"esm package", "tool.js", `import d, { named } from "esm"; return [d, named]`, `["esm default","esm named"]`},
		{"cjs package", "tool.js", `import cjs from "cjs"; return cjs()`, `"cjs 3"`},
		{"required package", "tool.js", `return require("cjs")() + require("cjs/dep").v`, `"cjs 33"`},
		{"package without a manifest", "tool.js", `import p from "plain"; return p`, `{"plain":true}`},
		{"scoped", "tool.js", `import { v } from "@scope/pkg"; import { v as w } from "@scope/pkg/sub"; import * as x from "@scope/pkg/deep/x"; return [v, w, x.v]`, `["scoped","scoped sub","deep x"]`},
		{"dual import", "tool.js", `import { kind } from "dual"; return kind`, `"import inner true"`},
		{"dual require", "tool.js", `return require("dual").kind`, `"require"`},
		{"browser map", "tool.js", `import { v } from "web"; return v`, `"web 00own"`},
		{"browser main", "tool.js", `import { v } from "weblist"; return v`, `"web"`},
		{"optional require", "tool.js", `import c from "maybe"; return c`, `"MODULE_NOT_FOUND"`},
		{"nested packages", "tool.js", `import x from "outer"; return x`, `"nested inner"`},
		{"shim for a builtin", "tool.js", `import e from "events"; return e`, `"the events package"`},
		{"where packages run", "tool.js", `return require("env")`, `"productionobject"`},
		{"source map of a package", "tool.js", `return require("old")`, `"x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers(t, source(tt.path, tt.code, packages), `{"a":1}`, tt.want)
		})
	}
}

// TestClassesKeepTheirNames tests two classes that have the same name in different files. Both
// classes must keep that name.
func TestClassesKeepTheirNames(t *testing.T) {
	files := map[string]string{
		"a.js": `export class ParseError extends Error { constructor(m) { super(m); this.name = new.target.name } }`,
		"b.js": `export class ParseError extends Error {} export const make = () => new ParseError("b")`,
		"c.js": `exports.ParseError = class ParseError {}`,
	}
	answers(t, source("tool.js", `import { ParseError } from "./a.js"; import * as b from "./b.js"; const c = require("./c.js");
		class Item2 {}
		return [new ParseError("a").name, b.ParseError.name, b.make().constructor.name, c.ParseError.name, Item2.name]`, files), `{}`,
		`["ParseError","ParseError","ParseError","ParseError","Item2"]`)
	if b := build(t, source("tool.js", `class Item2 {} function f() {} return Item2.name + f.name`, nil)); strings.Contains(b.Code, "__name") {
		t.Errorf("the bundle keeps names although none was changed:\n%s", b.Code)
	}
}

func TestUnusedPureModulesAreLeftOut(t *testing.T) {
	b := answers(t, source("tool.js", `import { used } from "pure"; return used`, packages), `{}`, `"used"`)
	if strings.Contains(b.Code, "NEVER BUNDLED") {
		t.Errorf("the bundle contains an unused module without side effects:\n%s", b.Code)
	}
}

func TestRefusedImports(t *testing.T) {
	for _, tt := range []struct{ code, message, hint string }{
		{`import s from "/abs/secret.json"`, `"/abs/secret.json" is not a file of this tool`, "./"},
		{`import s from "file:///abs/secret.json"`, "is not a file of this tool", "./"},
		{`import s from "https://example.org/x.js"`, "is not a file of this tool", "./"},
		{`import s from "data:text/javascript,1"`, "is not a file of this tool", "./"},
		{`import s from "C:/secret.json"`, "is not a file of this tool", "./"},
		{`import s from "C:\\secret.json"`, "invalid module name", "begins with ./"},
		{`import s from "./lib\\..\\..\\x.js"`, "invalid module name", "begins with ./"},
		{`import s from "../secret.json"`, "outside the tool's folder", "copy"},
		{`import s from "./lib/../../secret.json"`, "outside the tool's folder", "copy"},
		{`import s from ".."`, "outside the tool's folder", "copy"},
		{`import s from "cjs/../../lib/add.js"`, "outside its package", ""},
		{`import s from "@scope/pkg/out"`, "does not name a file in the package", ""},
		{`import s from "@scope/pkg/out2"`, "names a file outside the package", ""},
		{`import s from "@scope/pkg/deep/secret"`, "does not export", "exports"},
		{`import s from "@scope/pkg/b.js"`, "does not export", "exports"},
		{`import s from "@scope"`, "was not found", ""},
		{`import s from "../node_modules/cjs"`, "outside the tool's folder", ""},
		{`import s from "./missing"`, `"./missing" was not found`, "relative"},
		{`import s from "./lib/style.css"`, "was not found", ""},
		{`import s from "./notes.txt"`, "has a file type that cannot be imported", ".json"},
		{`import s from "missing"`, `the package "missing" is not installed`, "run npm install with its name in the tool's folder"},
		{`import s from "toolrun:entry"`, "is not a file of this tool", ""},
		{`import s from "broken"`, "package.json", ""},
		{`import s from "ghost"`, "was not found", ""},
		{`import s from "#inner"`, "is not defined", "imports"},
		{`import fs from "fs"`, `"fs" is a Node.js module, which tools cannot use`, "tools have no files"},
		{`import fs from "node:fs/promises"`, "is a Node.js module", "tools have no files"},
		{`import http from "node:http"`, "is a Node.js module", "tools have no network"},
		{`import { spawn } from "child_process"`, "is a Node.js module", "cannot start processes"},
		{`import p from "cluster"`, "is a Node.js module", "cannot start processes"},
		{`import c from "zlib"`, "is a Node.js module", "browsers"},
		{`const f = require("node-fetch")`, `the package "node-fetch" is not installed`, "tools have no network"},
		{`const f = require("fs")`, "is a Node.js module", "tools have no files"},
		{`try { require("fs") } catch {}`, "is a Node.js module", "tools have no files"},
		{`await import("fs")`, "is a Node.js module", "tools have no files"},
		{`await import(name)`, "must be a string literal", "by its name"},
		{"await import(`./lib/${name}.js`)", "must be a string literal", "by its name"},
		{`require("./lib/" + $x)`, "must be a string literal", "by its name"},
	} {
		files := map[string]string{"notes.txt": "SECRET"}
		for name, text := range packages {
			files[name] = text
		}
		f := refused(t, source("tool.js", "const name = 'x'\n"+tt.code, files))
		if !strings.Contains(f.Message, tt.message) || !strings.Contains(f.Hint, tt.hint) {
			t.Errorf("%s: %v\n%s", tt.code, f, f.Hint)
		}
		if f.File != "tool.js" || f.Line != 2 || f.Column < 1 {
			t.Errorf("%s: at %s:%d:%d; want line 2 of tool.js", tt.code, f.File, f.Line, f.Column)
		}
		if strings.Contains(f.Message+f.Hint, "SECRET") {
			t.Errorf("%s: the fault quotes a file: %v", tt.code, f)
		}
	}
}

// TestFaultsInImportedFiles tests errors in imported files. The position in the fault must be in
// the imported file.
func TestFaultsInImportedFiles(t *testing.T) {
	for _, tt := range []struct {
		name, file, text, message string
		line, column              int
	}{
		{"syntax", "lib/x.js", "export const a = 1\nconst = 2", "expected identifier", 2, 7},
		{"typescript", "lib/x.ts", "export const a: number = 1\n\nlet é = (", "unexpected end of file", 3, 10},
		{"json", "lib/x.json", "{\n  \"password\": hunter2\n}", "this is not JSON", 2, 15},
		{"import", "lib/x.js", "export const a = 1;\nimport 'node:net'", "is a Node.js module", 2, 8},
		{"escape", "lib/x.js", "export { a } from '../../a.js'", "outside the tool's folder", 1, 19},
		{"computed", "lib/x.js", "\n  import('./' + a)", "must be a string", 2, 3},
		{"regexp flag", "lib/x.js", "export const a = /x/v", "unsupported flag", 1, 18},
		{"nesting", "lib/x.json", strings.Repeat("[", 1001), "nested too deep", 1, 1001},
		{"binary", "lib/x.js", "\xff\xfe", "not UTF-8", 0, 0},
		{"a folder", "lib/x.js/y.js", "", "was not found", 1, 19},
		{"no such export", "lib/x.js", "export const b = 1", "no matching export", 1, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			main, _, _ := strings.Cut(tt.file, "/y.js")
			f := refused(t, source("tool.js", `import { a } from "./`+main+`"; return a`, map[string]string{tt.file: tt.text}))
			at := main
			if tt.name == "a folder" || tt.name == "no such export" {
				at = "tool.js"
			}
			if !strings.Contains(strings.ToLower(f.Message), strings.ToLower(tt.message)) || f.File != at || f.Line != tt.line || f.Column != tt.column {
				t.Errorf("fault = %s:%d:%d: %v", f.File, f.Line, f.Column, f)
			}
			if strings.Contains(f.Message, "hunter2") {
				t.Errorf("the fault quotes a data file: %v", f)
			}
		})
	}
}

func TestSingleFileImportsNothing(t *testing.T) {
	f := refused(t, source("tool.js", `import x from "./x.js"; return x`, nil))
	if !strings.Contains(f.Message, "single file") || !strings.Contains(f.Hint, "folder") {
		t.Errorf("fault = %v (%s)", f, f.Hint)
	}
	f = refused(t, source("tool.js", `const fetch = require("node-fetch")`, nil))
	if !strings.Contains(f.Hint, "no network") || f.Line != 1 || f.Column != 23 {
		t.Errorf("fault = %d:%d %v (%s)", f.Line, f.Column, f, f.Hint)
	}
}

func TestCaps(t *testing.T) {
	many := map[string]string{}
	var all strings.Builder
	for i := range bundle.MaxFiles + 1 {
		name := fmt.Sprintf("f%d.js", i)
		many[name] = "export default 1"
		all.WriteString("import './" + name + "';")
	}
	f := refused(t, source("tool.js", all.String(), many))
	if !strings.Contains(f.Message, "more than 1000 files") {
		t.Errorf("too many files: %v", f)
	}
	big := map[string]string{"big.js": "//" + strings.Repeat(" ", bundle.MaxBytes)}
	if f := refused(t, source("tool.js", `import "./big.js"`, big)); !strings.Contains(f.Message, "exceed 4194304 bytes") {
		t.Errorf("too many bytes: %v", f)
	}
	if f := refused(t, source("tool.js", strings.Repeat(" ", bundle.MaxEntryBytes+1), nil)); !strings.Contains(f.Message, "larger than") {
		t.Errorf("too large an entry: %v", f)
	}
}

// TestMissingPackages checks the hint for a missing package. The hint depends on the nearest
// package.json and on the lock file next to it.
func TestMissingPackages(t *testing.T) {
	const manifest = `{"dependencies": {"left": "1"}, "devDependencies": {"right": "1"}}`
	const own, lib = `import "left"`, `import "./lib/deep/a.js"`
	for _, tt := range []struct {
		name, code string
		files      map[string]string
		hint       string
	}{
		{"locked", own, map[string]string{"package.json": manifest, "package-lock.json": "{}"}, "run npm ci in the tool's folder"},
		{"locked, for development", `import "right"`, map[string]string{"package.json": manifest, "package-lock.json": "{}"}, "run npm ci in the tool's folder"},
		{"not locked", own, map[string]string{"package.json": manifest}, "run npm install in the tool's folder"},
		{"not asked for", `import "up"`, map[string]string{"package.json": manifest, "package-lock.json": "{}"}, "run npm install with its name in the tool's folder"},
		{"no package.json", own, nil, "run npm install with its name in the tool's folder"},
		{"no dependencies", own, map[string]string{"package.json": `{"dependencies": ["left"]}`}, "run npm install with its name in the tool's folder"},
		{"a folder of its own", lib, map[string]string{"lib/deep/a.js": own, "lib/package.json": manifest, "lib/package-lock.json": "{}"}, "run npm ci in lib in the tool's folder"},
		{"a folder without", lib, map[string]string{"lib/deep/a.js": own, "package.json": manifest, "package-lock.json": "{}"}, "run npm ci in the tool's folder"},
		{"of a package", `import "half"`, map[string]string{"node_modules/half/index.js": own, "node_modules/half/package.json": manifest, "package-lock.json": "{}"},
			"run npm ci in the tool's folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := refused(t, engine.Source{Path: "tool.js", Code: []byte(tt.code), Files: folder(tt.files)})
			if !strings.Contains(f.Message, "is not installed") || f.Hint != tt.hint {
				t.Errorf("%v, hint %q; want %q", f, f.Hint, tt.hint)
			}
		})
	}
}
