package bundle

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
)

// TestScanKeepsInStep checks that the scan distinguishes divisions from regular expressions. If the
// scan mistook a division for a regular expression, the scan would miss brackets and names. In each
// source, "marker" is part of the code, and "hidden" is part of a string, a comment or a regular
// expression.
func TestScanKeepsInStep(t *testing.T) {
	for _, src := range []string{
		`a / b; marker / "hidden"`,
		`x = {} / "/"; marker; "/ hidden"`,
		`x = { a: {} / "/" }; marker; "/ hidden"`,
		`x = function () {} / "/"; marker; "/ hidden"`,
		`x = class {} / "/"; marker; "/ hidden"`,
		`x = class extends class {} {} / "/"; marker; "/ hidden"`,
		`x = a ? {} : {} / "/"; marker; "/ hidden"`,
		`f({} / "/"); marker; "/ hidden"`,
		`x = [] / "/"; marker; "/ hidden"`,
		`x = (1) / "/"; marker; "/ hidden"`,
		`x++ / "/"; marker; "/ hidden"`,
		"x = `` / '/'; marker; '/ hidden'",
		"x = `${1}` / '/'; marker; '/ hidden'",
		"x = `a${{}}b` / '/'; marker; '/ hidden'",
		"x = `${`${a}` / '/'}`; marker; '/ hidden'",
		`x = async function () {} / "/"; marker; "/ hidden"`,
		`a.return / "/"; marker; "/ hidden"`,
		`a?.if / "/"; marker; "/ hidden"`,
		`a.if(1) / "/"; marker; "/ hidden"`,
		`{ } /"hidden/.test(marker)`,
		`if (a) { } /"hidden/.test(marker)`,
		`if (a) /"hidden/.test(marker)`,
		`while (a) /"hidden/.test(marker)`,
		`for await (a of b) /"hidden/.test(marker)`,
		`else /"hidden/.test(marker)`,
		`function f() { } /"hidden/.test(marker)`,
		`async function f() { } /"hidden/.test(marker)`,
		`class A { m() { } } /"hidden/.test(marker)`,
		`label: { } /"hidden/.test(marker)`,
		`switch (1) { case 1: { } /"hidden/.test(marker) }`,
		`return /"hidden/.test(marker)`,
		`x = a => /"hidden/.test(marker)`,
		`x = !/"hidden/.test(marker)`,
		`x = a || /[/"]hidden\//.test(marker)`,
		`x = [/"hidden/, marker]`,
		"x = `hidden ${marker} hidden`",
		"x = `hidden ${`${marker} hidden`} hidden`",
		"x = `hidden ${{ a: { b: marker } }} hidden`",
		`"hidden \" hidden"; marker`,
		"'hidden\\\n hidden'; marker",
		"'hidden\\\r\n hidden'; marker",
		"// hidden\nmarker",
		"// hidden\u2028marker",
		"/* hidden\n * hidden */ marker /* hidden",
		`1 / 2 / marker / "hidden"`,
		`x = 1.5e3 / marker`,
		`a.b.c; marker.hidden`,
		"a = b\n++/\"hidden/.test(marker)",
		"let a, b\n/\"hidden/.test(marker)",
		"let a = 1\n/ marker / 'hidden'",
		"break\n/\"hidden/.test(marker)",
		"continue label\n/\"hidden/.test(marker)",
		"import 'hidden'\n/\"hidden/.test(marker)",
		"export * from 'hidden'\n/\"hidden/.test(marker)",
		`label: function f() { } /"hidden/.test(marker)`,
		`if (a) function f() { } /"hidden/.test(marker)`,
		`@a class A { } /"hidden/.test(marker)`,
		`for (x of /"hidden/) marker`,
		`of / "/"; marker; "/ hidden"`,
	} {
		found, fault := scanSource("x.js", src, javascript)
		if fault != nil || found.words["marker"] != 1 || found.words["hidden"] != 0 {
			t.Errorf("scan(%q): %v, words %v", src, fault, found.words)
		}
	}
	for _, src := range []string{
		`x! / "/"; marker; "/ hidden"`,
		`function f(): Promise<{ a: number }> { } /"hidden/.test(marker)`,
		`interface A { a: number } /"hidden/.test(marker)`,
		"type A = B\n/\"hidden/.test(marker)",
		`if (a) abstract class A { } /"hidden/.test(marker)`,
	} {
		found, fault := scanSource("x.ts", src, typescript)
		if fault != nil || found.words["marker"] != 1 || found.words["hidden"] != 0 {
			t.Errorf("scan(%q): %v, words %v", src, fault, found.words)
		}
	}
}

func TestScanFindsImports(t *testing.T) {
	const src = `import a, { b as c, type D } from "x"
import * as e from './y' with { type: "json" }; import "z"
const f = import("w"), g = import.meta
import h = require("v")
import {
	i,
} from "u"
use(a)`
	found, fault := scanSource("x.ts", src, typescript)
	if fault != nil {
		t.Fatal(fault)
	}
	var texts, names []string
	for _, span := range found.imports {
		texts = append(texts, src[span.start:span.end])
		names = append(names, span.names...)
	}
	if got := strings.Join(names, " "); got != "a c D e h require i" {
		t.Errorf("names = %s", got)
	}
	want := []string{`import a, { b as c, type D } from "x"`, `import * as e from './y' with { type: "json" };`, `import "z"`, `import h = require("v")`, "import {\n\ti,\n} from \"u\""}
	if strings.Join(texts, "|") != strings.Join(want, "|") {
		t.Errorf("imports = %q", texts)
	}
	declarations, rest := hoist(src, found.imports)
	if countLines(declarations) != countLines(src) || countLines(rest) != countLines(src) || strings.Contains(rest, `"u"`) || strings.Contains(declarations, "use") {
		t.Errorf("hoist = %q, %q", declarations, rest)
	}
}

// TestScanRefusesToGuess tests sources in which only a parser can determine the meaning of a slash.
// The scan must reject such sources.
func TestScanRefusesToGuess(t *testing.T) {
	for _, src := range []string{`await /a/`, `yield /a/`, `yield / a`, `x = <any>/a/`} {
		if _, fault := scanSource("x.ts", src, typescript); fault == nil || !strings.Contains(fault.Message, "ambiguous") {
			t.Errorf("scan(%q) = %v", src, fault)
		}
	}
}

// TestScanLimits checks the limits of the scan. TestScanLimits also checks that the scan does not
// count a long list of data as a chain.
func TestScanLimits(t *testing.T) {
	r := strings.Repeat
	nest := engine.MaxSourceNesting
	for _, tt := range []struct {
		name, src string
		ok        bool
	}{
		{"at the limit of nesting", r("(", nest) + r(")", nest), true},
		{"too deep", r("(", nest+1) + r(")", nest+1), false},
		{"too deep in templates", r("`${", nest+1), false},
		{"deep, then again", r(r("[", nest)+r("]", nest)+";", 3), true},
		{"brackets in strings", `"` + r("(", 2*nest) + `"; /` + r("[(]", 2*nest) + `/; // ` + r("(", 2*nest), true},
		{"a long sum", "x = 1" + r(" + 1", maxChain/2-10), true},
		{"too long a sum", "x = 1" + r(" + 1", maxChain/2), false},
		{"too many signs", "x = " + r("!", maxChain+1) + "1", false},
		{"too many arrows", "x = " + r("a => ", nest) + "1", false},
		{"too long a choice", r("if (a) b, c; else ", maxChain) + ";", false},
		{"too long a choice of blocks", r("if (a) {} else ", maxChain) + ";", false},
		{"many choices", r("if (a) b; else c;\n", maxChain), true},
		{"many statements", r("a.b(c);", maxChain), true},
		{"many lines without semicolons", r("a.b(c)\n", maxChain), true},
		{"many blocks", r("if (a) { b() }\n", maxChain), true},
		{"a long array", "x = [" + r("1, ", 10*maxItems) + "]", true},
		{"a long object", "x = {" + r("a: 1, ", 10*maxItems) + "}", true},
		{"many arguments", "f(" + r("1, ", 10*maxItems) + ")", true},
		{"too long a sequence", "x = (a" + r(", a", maxItems+1) + ")", false},
		{"too many variables", "var a" + r(", a", maxItems+1), false},
		{"too many cases", "switch (a) {" + r("case 1:", maxItems+1) + "}", false},
		{"many cases", "switch (a) {" + r("case 1: b(); break;\n", maxItems) + "}", true},
		{"a chain over several lines", "x = " + r("!\n", maxChain+1) + "1", false},
		{"a chain of words over several lines", "x = " + r("await\n", maxChain+1) + "1", false},
		{"comment of HTML", "a <!-- b", false},
		{"end of a comment of HTML", "\n--> b", false},
		{"countdown", "while (i --> 0) {}", true},
		{"long sequences", r("x = (a"+r(", a", 5000)+");", 2), false},
		{"many short sequences", r("x = (a"+r(", a", 50)+");", 1000), true},
		{"a regular expression that unfolds", "x = /" + r("a{1000}", 300) + "/", false},
		{"nested repetitions", "x = /((a{100}){100}){100}/", false},
		{"one that does not", `x = /^[a-z{1000}]{1,64}(\.\w{2,1000}){1,5}\{1000\}$/`, true},
		{"many of them", r(`/^(\w+)\s*=\s*(.*)$/i;`, 5000), true},
		{"deep groups", "x = /" + r("(", maxPatternNesting+1) + r(")", maxPatternNesting+1) + "/", false},
		{"a long number", "x = " + r("7", maxDigits+1) + "n", false},
		{"a number", "x = " + r("7", 1000) + "n + " + r(".1", 1), true},
	} {
		_, fault := scanSource("x.js", tt.src, javascript)
		if (fault == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, fault)
		}
	}
	for _, src := range []string{
		"let x: " + r("keyof\n", maxChain+1) + "A",
		"let x: " + r("A<B,", maxChain) + "C",
		"enum E { a = '" + r("x", 1<<20) + "' }" + r("E.a;", 1000),
		"enum E { a = 'x', b = a" + r("+a", 50) + " }",
		"enum E { a = 'x', b = `" + r("${a}", 50) + "` }",
	} {
		if _, fault := scanSource("x.ts", src, typescript); fault == nil {
			t.Errorf("scan(%.20q...) = nil; want a fault", src)
		}
	}
}

func TestEnumsMayHaveTexts(t *testing.T) {
	for _, src := range []string{
		"enum E { a = 'https://example.com/" + strings.Repeat("x", 200) + "', b = 'b' }" + strings.Repeat("E.a;", 10_000),
		"enum F { a = 1 << 0, b = 1 << 1, c = a | b, d = 1 + 2 " + strings.Repeat("+ 1", 100) + " }",
		"enum G { a = 'x' + 'y' } const t = 'a'" + strings.Repeat(" + 'b'", 1000),
	} {
		if _, fault := scanSource("x.ts", src, typescript); fault != nil {
			t.Errorf("scan(%.40q...) = %v", src, fault)
		}
	}
}
