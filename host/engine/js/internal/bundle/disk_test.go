package bundle_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

// poison changes to a working directory that contains a trap for each file that esbuild would look
// up there.
func poison(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"tsconfig.json":             `{"compilerOptions": {"paths": {"*": ["./*"]}, "jsxFactory": "LEAK", "target": "es5"}`,
		"package.json":              `{"name": "LEAK", "imports": {"#x": "./secret.json"}, "browser": {"./lib.js": "./secret.json"}`,
		"secret.json":               `{"v": "LEAK"}`,
		"data/a.json":               `{"v": "LEAK"}`,
		"data/package.json":         `{"LEAK": `,
		"tool.js":                   `export default () => "LEAK"`,
		"entry":                     `LEAK`,
		"lib.js":                    `export const v = "LEAK"`,
		"node_modules/pkg/index.js": `module.exports = "LEAK"`,
		"tool.js.map":               `{"version": 3, "sources": ["LEAK.js"], "names": [], "mappings": "AAAA"}`,
		"lib.js.map":                `{"version": 3, "sources": ["LEAK.js"], "names": [], "mappings": "AAAA"}`,
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return filepath.ToSlash(dir)
}

// TestNothingComesFromTheDisk tests all kinds of imports. Neither a bundle nor a fault must contain
// data from the disk.
func TestNothingComesFromTheDisk(t *testing.T) {
	dir := poison(t)
	bundled := base64.StdEncoding.EncodeToString([]byte(`{"version":3,"sources":["file://` + dir + `/LEAK.js"],"names":[],"mappings":"AAAA"}`))
	files := map[string]string{
		"lib.js":            "export const v = 'served'\n//# sourceMappingURL=file://" + dir + "/lib.js.map",
		"inlined.js":        "export const v = 'served'\n//# sourceMappingURL=data:application/json;base64," + bundled,
		"tsconfig.json":     `{ broken`,
		"sub/tsconfig.json": `{ broken`,
		"sub/x.ts":          `export const v: string = "served"`,
	}
	served := map[string]string{
		"plain":                  `import { v } from "./lib.js"; return v`,
		"inlined source map":     `import { v } from "./inlined.js"; return v`,
		"tsconfig.json":          `import { v } from "./sub/x"; return v`,
		"source map of the tool": "return 'served'\n//# sourceMappingURL=file://" + dir + "/tool.js.map",
		"older directive":        "return 'served'\n//@ sourceMappingURL=file://" + dir + "/tool.js.map",
		"directive in a comment": "return 'served'\n/*# sourceMappingURL=file://" + dir + "/tool.js.map */",
		"inlined in the tool":    "return 'served'\n//# sourceMappingURL=data:application/json;base64," + bundled,
		"module with a map":      "export default () => 'served'\n//# sourceMappingURL=tool.js.map",
	}
	for name, code := range served {
		t.Run(name, func(t *testing.T) {
			b := answers(t, source("tool.js", code, files), `{}`, `"served"`)
			if strings.Contains(b.Code, "LEAK") || strings.Contains(b.Code, "sourceMappingURL") {
				t.Errorf("the bundle contains LEAK or a source map directive:\n%s", b.Code)
			}
			if at := where(t, b, "served"); at != "tool.js" && at != "lib.js" && at != "inlined.js" && at != "sub/x.ts" {
				t.Errorf("the text of %q is in %q: another source map was read", name, at)
			}
		})
	}
	for _, code := range []string{
		`import s from "` + dir + `/secret.json"; return s`,
		`import s from "./secret.json"; return s`,
		`import s from "file://` + dir + `/secret.json"; return s`,
		`import s from "pkg"; return s`,
		`import s from "#x"; return s`,
		`import s from "secret.json"; return s`,
		`import s from "` + strings.Repeat("../", 20) + `etc/hostname"`,
		`return await import("./data/" + input.name + ".json")`,
		"return await import(`./data/${input.name}.json`)",
		"return require(`./data/${input.name}.json`)",
		"return require('./data/' + input.name)",
		"return r\\u0065quire('./data/' + input.name)",
		"if (false) require('./data/' + input.name)",
		"return require(input.b ? './lib.js' : './data/' + input.name)",
		"export default (i) => import('./data/' + i.name)",
		"function unused() { require('./data/' + x) } export default () => 1",
		"return (() => { try { return require('../' + x) } catch {} })()",
	} {
		f := refused(t, source("tool.js", code, files))
		if text := f.Message + f.Hint + f.File + f.Stack; strings.Contains(text, "LEAK") || strings.Contains(f.Message+f.Hint, "tsconfig") ||
			strings.Contains(strings.ReplaceAll(text, code, ""), dir+"/data") {
			t.Errorf("%s: %s", code, text)
		}
	}
}

// where returns the author's file that contains a text of the bundle, or "".
func where(t *testing.T, b *bundle.Bundle, text string) string {
	t.Helper()
	before, _, ok := strings.Cut(b.Code, `"`+text)
	if !ok {
		t.Fatalf("%q is missing in\n%s", text, b.Code)
	}
	file, _, _, _ := b.Position(strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'))
	return file
}

// TestComputedImportsAreRefusedEverywhere checks that a computed import is rejected in a package
// and in every file of the tool.
func TestComputedImportsAreRefusedEverywhere(t *testing.T) {
	poison(t)
	for _, name := range []string{"lib/x.js", "lib/x.ts", "lib/x.cjs", "node_modules/x/index.js"} {
		for _, code := range []string{"export const f = (n) => import('../data/' + n)", "exports.f = (n) => require('./data/' + n + '.json')"} {
			what := "./" + name
			if strings.HasPrefix(name, "node_modules") {
				what = "x"
			}
			src := engine.Source{Path: "tool.js", Code: []byte(`return require("` + what + `")`), Files: folder(map[string]string{name: code})}
			f := refused(t, src)
			if f.File != name || f.Line != 1 || !strings.Contains(f.Message, "must be a string literal") {
				t.Errorf("%s: %q: %s:%d: %v", name, code, f.File, f.Line, f)
			}
		}
	}
}
