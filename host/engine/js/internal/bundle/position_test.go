package bundle_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

var frame = regexp.MustCompile(`tool:(\d+):(\d+)`)

// thrown runs a tool that must throw an error. thrown returns the author's positions from the
// error's stack, innermost first.
func thrown(t *testing.T, b *bundle.Bundle) []string {
	t.Helper()
	_, err := run(b, `{"a":1}`, `{}`)
	var r *rejection
	if !errors.As(err, &r) {
		t.Fatalf("run = %v; want a rejection\n%s", err, b.Code)
	}
	var positions []string
	for _, m := range frame.FindAllStringSubmatch(r.stack(), -1) {
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		if file, l, c, ok := b.Position(line, column); ok {
			positions = append(positions, fmt.Sprintf("%s:%d:%d", file, l, c))
		}
	}
	return positions
}

func TestRuntimePositions(t *testing.T) {
	files := map[string]string{
		"lib/fail.ts":               "interface X {\n  a: number\n}\nexport function fail(x: X): never {\n  throw new Error('no')\n}",
		"lib/😀.js":                  "",
		"node_modules/pkg/index.js": "\n\nmodule.exports = function () { null.x }",
	}
	for _, tt := range []struct{ name, path, code, want string }{
		{"body", "tool.js", "const x = 1\n\n  throw new Error('at three')", "tool.js:3:9"},
		{"body in a folder", "tools/a b/ü.js", "throw new Error()", "tools/a b/ü.js:1:7"},
		{"first line", "tool.js", "throw new Error('x')", "tool.js:1:7"},
		{"after wide text", "tool.js", "const s = 'äöü😀'; throw new Error(s)", "tool.js:1:26"},
		{"main", "tool.js", "// a comment\nasync function main(input) {\n  return inner(input)\n}\nfunction inner(i) {\n  return i.b.c\n}", "tool.js:6:14 tool.js:3:10"},
		{"typescript main", "tool.ts", "type I = {\n  b: { c: number }\n}\nasync function main(input: I) {\n  return input.b.c\n}", "tool.ts:5:18"},
		{"module", "tool.mjs", "import { fail } from './lib/fail.ts'\nexport default () => fail({ a: 1 })", "lib/fail.ts:5:9 tool.mjs:2:22"},
		{"imports above a body", "tool.js", "import { fail } from './lib/fail'\nimport pkg from 'pkg'\n\nfail({})", "lib/fail.ts:5:9 tool.js:4:1"},
		{"import on the line of code", "tool.js", "const x = 1; import { fail } from './lib/fail'; fail({})", "lib/fail.ts:5:9 tool.js:1:49"},
		{"wide name on the line of code", "tool.js", "import './lib/😀.js'; throw new Error()", "tool.js:1:29"},
		{"package", "tool.js", "import pkg from 'pkg'\npkg()", "node_modules/pkg/index.js:3:37 tool.js:2:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := build(t, source(tt.path, tt.code, files))
			if got := strings.Join(thrown(t, b), " "); got != tt.want {
				t.Errorf("stack = %s; want %s\n%s", got, tt.want, b.Code)
			}
		})
	}
}

// TestPositionsOfOurOwnText checks that generated text has no position. TestPositionsOfOurOwnText
// also checks that the method Position does not fail for any line or column.
func TestPositionsOfOurOwnText(t *testing.T) {
	b := build(t, source("tool.js", "import './x.cjs'\nasync function main() {}", map[string]string{"x.cjs": "exports.x = 1"}))
	lines := strings.Split(b.Code, "\n")
	for _, line := range []int{-1, 0, 1, 2, len(lines) - 2, len(lines) - 1, len(lines), 1 << 30} {
		for _, column := range []int{-5, 0, 1, 10, 1 << 30} {
			if file, l, c, ok := b.Position(line, column); ok {
				t.Errorf("Position(%d, %d) = %s:%d:%d; want no position", line, column, file, l, c)
			}
		}
	}
	for i, text := range lines {
		for column := range len(text) {
			file, l, _, ok := b.Position(i+1, column+1)
			if ok && file != "tool.js" && file != "x.cjs" || ok && l > 2 {
				t.Errorf("Position(%d, %d) = %s:%d of %q", i+1, column+1, file, l, text)
			}
		}
	}
}

func TestSyntaxErrorPositions(t *testing.T) {
	for _, tt := range []struct {
		name, path, code string
		line, column     int
	}{
		{"body", "tool.js", "const a = 1\nconst = 2", 2, 7},
		{"typescript", "tool.ts", "const a: number = 1\nlet b: = 2", 2, 8},
		{"main", "tool.js", "async function main() {\n  return {\n    a: 1,,\n  }\n}", 3, 10},
		{"module", "tool.js", "export default async function () {\n  retur 1\n}", 2, 9},
		{"with imports", "tool.js", "import x from './x.js'\nlet y = ;", 2, 9},
		{"after wide text", "tool.js", "const s = 'äöü😀'; let = ;", 1, 26},
		{"too few brackets", "tool.js", "if (true) {\n  foo(\n", 2, 6},
		{"too many brackets", "tool.js", "if (true) {\n}\n}\nfoo()", 3, 1},
		{"unterminated string", "tool.js", "const x = 1\nconst a = 'abc\n", 2, 15},
		{"return in a module", "tool.js", "export const main = 1\nreturn 2", 2, 1},
		{"declared twice", "tool.js", "let a = 1\nlet a = 2", 2, 5},
		{"a private name", "tool.js", "class A {}\nnew A().#x", 2, 9},
		{"break outside of a loop", "tool.js", "\n  break", 2, 3},
		{"regexp flag", "tool.js", "return /[\\p{L}]/d", 1, 8},
		{"regexp flag in a call", "tool.js", "const s = 'x'\ns.match(/[a--b]/v)", 2, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := refused(t, source(tt.path, tt.code, map[string]string{"x.js": ""}))
			if f.File != tt.path || f.Line != tt.line || f.Column != tt.column {
				t.Errorf("fault at %s:%d:%d (%s); want %d:%d", f.File, f.Line, f.Column, f.Message, tt.line, tt.column)
			}
		})
	}
}

// TestUnmatchedBrackets checks the fault for an unmatched bracket. The fault must name the bracket
// and contain the bracket's position in the author's text.
func TestUnmatchedBrackets(t *testing.T) {
	tests := []struct {
		code         string
		line, column int
		message      string
	}{
		{"const a = 1;\nreturn (", 2, 8, `the source ends before this "(" is closed`},
		{"if (true) { return 1", 1, 11, `the source ends before this "{" is closed`},
		{"export function main() {\n  if (1) { return 2 }", 1, 24, `the source ends before this "{" is closed`},
		{"return `a ${1 + `", 1, 18, `unterminated`},
		{"return [}", 1, 9, `"}" does not match "[" on line 1, column 8`},
		{"export const main = () => [1, 2};", 1, 32, `"}" does not match "["`},
		{"return (1))", 1, 11, `a closing bracket has no opening bracket: ")"`},
		{"return 'a(", 1, 11, "unterminated string"},
	}
	for _, tt := range tests {
		f := refused(t, source("tool.js", tt.code, nil))
		if f.Line != tt.line || f.Column != tt.column || !strings.Contains(f.Message, tt.message) {
			t.Errorf("Build(%q) = %+v; want %q at %d:%d", tt.code, f, tt.message, tt.line, tt.column)
		}
	}
}
