package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// FuzzBuild builds tools whose sources are arbitrary short texts. A build can succeed. If it fails,
// the fault must contain a position in one of the tool's files.
func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		"return $a + 1", "export default async (i) => i.a", "module.exports = { main() {} }", "function main(input) { return input }",
		"import x, { y as $z } from './lib.js'\nreturn x", "import d from './data.json' with { type: 'json' }; return d", "return require('pkg')",
		"import('./' + x)", "`${`${a}`}`", "x = {} / 2 / /[/]/g", "})(); (async function () {", "#!/usr/bin/env node\nawait 1",
		"const a: number = <any>1; enum E { A }", "type A<T> = T extends B<infer C> ? C[] : never; return 1 as A<1>", "class A { static #x = 1; @d m() {} }",
		"for await (const x of y) {}", "async function* g() { yield* h() }", "//# sourceMappingURL=file:///x", "/(?<a>x)\\p{L}/u", "a <!-- b",
		"import 'node:fs'", "import '../../x'", "try { require('fs') } catch {}", "return `\u2028${'😀'}`", "let \\u0061 = 1; return a", "if (a) b; else if (c) d; else e",
		"import a from './data.json'", "import", "import {", "export {", "@", "\\", "#", "'", "`", "/", "/*", "\xff", "\ufeff", "with (a) b", "using x = y", "return import.meta",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	files := folder(map[string]string{"lib.js": "export default 1; export const y = 2", "data.json": "[1]", "node_modules/pkg/index.js": "module.exports = 1"})
	f.Fuzz(func(t *testing.T, code string, typescript bool) {
		if len(code) > 2048 {
			return
		}
		path := "tool.js"
		if typescript {
			path = "tool.ts"
		}
		b, err := bundle.Build(t.Context(), engine.Source{Path: path, Code: []byte(code), Files: files, Params: []string{"a", "b"}})
		if err != nil {
			var fault *abi.Fault
			if !errors.As(err, &fault) || fault.Code != abi.SourceInvalid || fault.Message == "" || fault.File == "" || fault.Line < 0 || fault.Column < 0 {
				t.Fatalf("Build = %#v", err)
			}
			if lines := strings.Count(code, "\n") + strings.Count(code, "\r") + strings.Count(code, "\u2028") + strings.Count(code, "\u2029") + 1; fault.File == path && fault.Line > lines {
				t.Fatalf("line %d of %d: %v", fault.Line, lines, fault)
			}
			return
		}
		for line, text := range strings.Split(b.Code, "\n") {
			for column := 0; column < len(text); column += 7 {
				if file, _, _, ok := b.Position(line+1, column+1); ok && file != path && file != "lib.js" && file != "data.json" && file != "node_modules/pkg/index.js" {
					t.Fatalf("Position(%d, %d) is in %q; want a file of the tool", line+1, column+1, file)
				}
			}
		}
	})
}
