package bundle

import (
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// FuzzScan compares the scan with a parser. If a source is valid JavaScript, the scan must match
// all brackets in it.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"a / b / c", "x = {} / 1; /[(]/", "`${`${{}}`}` / 1", "if (a) /(/.test(b)", "a++ / 2 / (b)", "for await (a of b) /[/]{/", "class A extends class {} {}\n/{/",
		"x = function () {} / (1)", "label: {} /{/", "a.return / (b) / c", "while (i --> 0) {}", "x = a ? {} : {} / (1)", "({ get a() {} }) / 2", "`\\`${1}`", "'\\\n('",
		"async () => {}\n/{/", "return\n/{/", "case: 1", "switch (a) { case {}: {} /{/ }", "export default {} / (1)", "yield /{/", "let x = a\n/{/g", "do {} while (a) /{/", "new.target / (1)",
		"function f(a = {} / (1)) {} /{/", "({}) => {}", "x = async\n/{/1", "throw /{/", "a = b\n++/{/.c", "of / (a)", "static {} /{/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 512 {
			return
		}
		s := newScanner(code, javascript)
		if fault := s.scan("x.js"); fault != nil {
			return
		}
		if parsed := transform(code, javascript, api.FormatDefault); len(parsed.Errors) > 0 {
			return
		}
		if s.found.stray >= 0 || len(s.frames) != 1 {
			t.Fatalf("scan(%q): stray bracket at %d, %d open", code, s.found.stray, len(s.frames)-1)
		}
	})
}
