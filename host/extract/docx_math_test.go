package extract_test

import (
	"fmt"
	"strings"
	"testing"
)

// mathElement returns an element of Office MathML with the given content.
func mathElement(name string, content ...string) string {
	return "<m:" + name + ">" + strings.Join(content, "") + "</m:" + name + ">"
}

// mathRun returns a run of text that has the given properties.
func mathRun(text string, properties ...string) string {
	return mathElement("r", mathElement("rPr", properties...), mathElement("t", strings.ReplaceAll(text, "&", "&amp;")))
}

// mathValue returns a property.
func mathValue(name, value string) string { return fmt.Sprintf(`<m:%s m:val="%s"/>`, name, value) }

// TestFormulasOfDOCX checks the TeX of equations. For most of these equations, pandoc writes the
// same TeX, but with different spaces.
func TestFormulasOfDOCX(t *testing.T) {
	el, r, val := mathElement, mathRun, mathValue
	arg := func(text string) string { return el("e", r(text)) }
	for _, c := range []struct{ name, math, want string }{
		{"text", r("50% of x_1 & {y}"), "50% of x_1 & {y}"},
		{"a letter in bold", r("v", val("sty", "b")), "v"},
		{"a fraction", el("f", el("num", r("a")), el("den", r("b+1"))), `$\frac{a}{b+1}$`},
		{"a fraction in a line", el("f", el("fPr", val("type", "lin")), el("num", r("a")), el("den", r("b"))), `${a}/{b}$`},
		{"a stack", el("f", el("fPr", val("type", "noBar")), el("num", r("n")), el("den", r("k"))), `$\genfrac{}{}{0pt}{}{n}{k}$`},
		{"indices", el("sSub", arg("x"), el("sub", r("i"))) + el("sSup", arg("ab"), el("sup", r("2"))) + el("sSubSup", arg("R"), el("sub", r("i")), el("sup", r("j"))), `$x_{i}{ab}^{2}R_{i}^{j}$`},
		{"an index of an index", el("sSub", el("e", el("sSub", arg("x"), el("sub", r("1")))), el("sub", r("2"))), `${x_{1}}_{2}$`},
		{"indices before the base", el("sPre", el("sub", r("6")), el("sup", r("14")), arg("C")), `${}_{6}^{14}{C}$`},
		{"a square root", el("rad", el("radPr", val("degHide", "1")), el("deg"), arg("x")), `$\sqrt{x}$`},
		{"a hidden degree", el("rad", el("radPr", "<m:degHide/>"), el("deg", r("2")), arg("x")), `$\sqrt{x}$`},
		{"a cube root", el("rad", el("deg", r("3")), arg("x")), `$\sqrt[3]{x}$`},
		{"a sum", el("nary", el("naryPr", val("chr", "∑")), el("sub", r("i=1")), el("sup", r("n")), arg("i")), `$\sum_{i=1}^{n} i$`},
		{"an integral", el("nary", el("naryPr", val("subHide", "1"), val("supHide", "on")), el("sub", r("gone")), el("sup"), arg("f")), `$\int f$`},
		{"a shown limit", el("nary", el("naryPr", val("subHide", "0")), el("sub", r("D")), el("sup"), arg("f")), `$\int_{D} f$`},
		{"a function", el("func", el("fName", r("sin", val("sty", "p"))), arg("x")), `$\sin x$`},
		{"a power of a function", el("func", el("fName", el("sSup", arg("cos"), el("sup", r("2")))), arg("x")), `$\cos^{2} x$`},
		{"a limit", el("func", el("fName", el("limLow", arg("lim"), el("lim", r("x→0")))), arg("f")), `$\lim_{x→0} f$`},
		{"a custom function", el("func", el("fName", r("sinc")), arg("x")), `$\operatorname{sinc} x$`},
		{"a function before a letter", el("f", el("num", r("log", val("sty", "p"))+r("x")), el("den", r("y"))), `$\frac{\log x}{y}$`},
		{"delimiters", el("d", arg("a"), arg("b")), `$\left(a|b\right)$`},
		{"other delimiters", el("d", el("dPr", val("begChr", "{"), val("sepChr", ","), val("endChr", "")), arg("a"), arg("b")), `$\left\{a,b\right.$`},
		{"an index of delimiters", el("sSup", el("e", el("d", arg("a"))), el("sup", r("2"))), `$\left(a\right)^{2}$`},
		{"accents", el("acc", arg("x")) + el("acc", el("accPr", val("chr", "⃗")), arg("v")) + el("bar", el("barPr", val("pos", "top")), arg("y")) + el("acc", el("accPr", val("chr", "★")), arg("z")), `$\widehat{x}\overrightarrow{v}\overline{y}\overset{★}{z}$`},
		{"a brace", el("limLow", el("e", el("groupChr", arg("a+b"))), el("lim", r("n"))), `$\underbrace{a+b}_{n}$`},
		{"a box", el("borderBox", arg("x")), `$\boxed{x}$`},
		{"a matrix", el("m", el("mPr", el("mcs", el("mc"))), el("mr", arg("a"), arg("b")), el("mr", arg("c"), arg("d"))), `$\begin{matrix}a & b \\ c & d\end{matrix}$`},
		{"an array", el("eqArr", el("e", r("x&=1")), el("e", r("y&=2"))), `$\begin{aligned}x&=1 \\ y&=2\end{aligned}$`},
		{"styles", el("sSub", el("e", r("e", val("sty", "b"))), el("sub", r("kg", val("sty", "p")))) + r("if so", "<m:nor/>") + r("R", val("scr", "double-struck")), `$\mathbf{e}_{\mathrm{kg}}\text{if so}\mathbb{R}$`},
		{"TeX special characters", el("sSub", arg("$"), el("sub", r(`{a_b}\c#`))), `${\$}_{\{a\_b\}\backslash c\#}$`},
		{"deleted text", el("sSub", arg("x"), el("sub", r("1"), "<w:del>"+r("2")+"</w:del>", "<w:ins>"+r("3")+"</w:ins>")), `$x_{13}$`},
		{"nothing", el("r", el("t")), ""},
		{"no arguments", el("d") + el("nary") + el("acc") + r("x"), "x"},
	} {
		got, err := run(t, "docx", docxParts(t, "<w:p><w:r><w:t>A</w:t></w:r>"+el("oMath", c.math)+"<w:r><w:t>B</w:t></w:r></w:p>"), 0)
		if err != nil || got.Text != "A"+c.want+"B\n" {
			t.Errorf("%s: Read = %q, %v; want A%sB", c.name, got.Text, err, c.want)
		}
	}
}

func TestEquationsOfDOCX(t *testing.T) {
	el, r := mathElement, mathRun
	square := func(x string) string { return el("oMath", el("sSup", el("e", r(x)), el("sup", r("2")))) }
	long := el("oMath", el("sSup", el("e", r("x")), el("sup", r(strings.Repeat("1234567890", 20)))))
	for _, c := range []struct {
		name, body, want string
		limit            int
		truncated        bool
	}{
		{"paragraphs of equations", "<w:p>" + el("oMathPara", square("x"), square("y")) + "</w:p><w:p>" + square("z") + "</w:p>", "$$x^{2}$$\n$$y^{2}$$\n$z^{2}$\n", 0, false},
		{"in a cell", "<w:tbl><w:tr><w:tc><w:p>" + square("x") + "</w:p></w:tc><w:tc><w:p>" + square("y") + "</w:p></w:tc></w:tr></w:tbl>", "$x^{2}$\t$y^{2}$\n", 0, false},
		{"too long", "<w:p>" + long + "</w:p>" + paragraph("after"), "$x^{" + strings.Repeat("1234567890", 10)[:96], 100, true},
		{"cut off", "<w:p><m:oMath>" + el("sSup", el("e", r("x")), el("sup", r("2"))) + "<w:", "$x^{2}$", 0, true},
	} {
		got, err := run(t, "docx", docxParts(t, c.body), c.limit)
		if err != nil || got.Text != c.want || got.Truncated != c.truncated {
			t.Errorf("%s: Read = %q, %t, %v; want %q", c.name, got.Text, got.Truncated, err, c.want)
		}
	}
}
