package extract

import "strings"

// argument returns the TeX delimiters for an argument of an element. If the element has no argument
// with the given name, the method returns false.
func (f *formula) argument(parent *mathElement, name string) (start, end string, ok bool) {
	form, ok := mathForms[parent.name][name]
	switch {
	case !ok:
		return "", "", false
	case f.names > 0 && name == "e" && parent.indexed(): // \sin^{2}
		return "", "", true
	case parent.name == "f" && parent.properties["type"] == "lin":
		return map[string]string{"num": "{", "den": "/{"}[name], "}", true
	case name == "num" && parent.properties["type"] == "noBar":
		return `\genfrac{}{}{0pt}{}{`, "}", true
	}
	return form[0], form[1], true
}

// mathForms contains, for each element, the TeX delimiters of the element's arguments.
var mathForms = map[string]map[string][2]string{
	"f":         {"num": {`\frac{`, "}"}, "den": {"{", "}"}},
	"sSub":      {"e": {"{", "}"}, "sub": {"_{", "}"}},
	"sSup":      {"e": {"{", "}"}, "sup": {"^{", "}"}},
	"sSubSup":   {"e": {"{", "}"}, "sub": {"_{", "}"}, "sup": {"^{", "}"}},
	"sPre":      {"e": {"{", "}"}, "sub": {"_{", "}"}, "sup": {"^{", "}"}},
	"limLow":    {"e": {"{", "}"}, "lim": {"_{", "}"}},
	"limUpp":    {"e": {"{", "}"}, "lim": {"^{", "}"}},
	"rad":       {"deg": {"[", "]"}, "e": {"{", "}"}},
	"nary":      {"sub": {"_{", "}"}, "sup": {"^{", "}"}, "e": {" ", ""}},
	"func":      {"fName": {"", ""}, "e": {" ", ""}},
	"d":         {"e": {"", ""}},
	"acc":       {"e": {"{", "}"}},
	"bar":       {"e": {"{", "}"}},
	"groupChr":  {"e": {"{", "}"}},
	"borderBox": {"e": {"{", "}"}},
	"m":         {"mr": {"", ""}},
	"mr":        {"e": {"", ""}},
	"eqArr":     {"e": {"", ""}},
}

// atoms lists the elements whose TeX needs no braces before an index.
var atoms = map[string]bool{"d": true, "acc": true, "bar": true, "groupChr": true, "rad": true, "borderBox": true}

// indexed reports whether an element adds indexes to its first argument.
func (e *mathElement) indexed() bool {
	switch e.name {
	case "sSub", "sSup", "sSubSup", "limLow", "limUpp":
		return true
	}
	return false
}

// omits reports whether the TeX omits an argument of an element.
func (e *mathElement) omits(argument string, empty bool) bool {
	switch argument {
	case "sub", "sup", "deg":
		return empty || e.is(argument+"Hide")
	}
	return false
}

// head returns the TeX that precedes the arguments of an element.
func (e *mathElement) head() string {
	switch e.name {
	case "sPre":
		return "{}"
	case "rad":
		return `\sqrt`
	case "nary":
		return delimiter(texOperators, e.property("chr", "∫"))
	case "d":
		return `\left` + delimiter(texDelimiters, e.property("begChr", "("))
	case "m":
		return `\begin{matrix}`
	case "eqArr":
		return `\begin{aligned}`
	case "borderBox":
		return `\boxed`
	case "acc", "bar", "groupChr":
		return e.mark()
	}
	return ""
}

// tail returns the TeX that follows the arguments of an element.
func (e *mathElement) tail() string {
	switch {
	case e.arguments == 0:
		return ""
	case e.name == "d":
		return `\right` + delimiter(texDelimiters, e.property("endChr", ")"))
	case e.name == "m":
		return `\end{matrix}`
	case e.name == "eqArr":
		return `\end{aligned}`
	}
	return ""
}

// separator returns the TeX between two arguments of an element.
func (e *mathElement) separator() string {
	switch e.name {
	case "d":
		return e.property("sepChr", "|")
	case "m", "eqArr":
		return ` \\ `
	case "mr":
		return " & "
	}
	return ""
}

// mark returns the TeX command for a mark above or below an argument.
func (e *mathElement) mark() string {
	character, below := e.property("chr", "\u0302"), false
	switch e.name {
	case "bar":
		if e.property("pos", "bot") == "bot" {
			return `\underline`
		}
		return `\overline`
	case "groupChr":
		character, below = e.property("chr", "⏟"), e.property("pos", "bot") == "bot"
	}
	if command, ok := texMarks[character]; ok {
		return command
	}
	if below {
		return `\underset{` + texEscapes.Replace(character) + `}`
	}
	return `\overset{` + texEscapes.Replace(character) + `}`
}

// style returns the TeX command for the style of a run. For the default style of formulas, the
// result is "".
func (e *mathElement) style(word bool) string {
	if e.is("nor") {
		return `\text`
	}
	if command := texScripts[e.properties["scr"]]; command != "" {
		return command
	}
	switch e.properties["sty"] {
	case "b", "bi":
		return `\mathbf`
	case "p":
		if word {
			return `\mathrm`
		}
	}
	return ""
}

// delimiter returns the TeX of a delimiter. If the delimiter is omitted, the result is a period.
func delimiter(commands map[string]string, character string) string {
	if command, ok := commands[character]; ok {
		return command
	}
	return texEscapes.Replace(character)
}

// isWord reports whether a text consists of at least two Latin letters.
func isWord(text string) bool { return len(text) > 1 && isLetters(text) }

// isLetters reports whether a text consists of Latin letters.
func isLetters(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }) < 0
}

// mathProperties lists the properties that formula stores.
var mathProperties = map[string]bool{"chr": true, "begChr": true, "endChr": true, "sepChr": true, "pos": true, "type": true,
	"degHide": true, "subHide": true, "supHide": true, "scr": true, "sty": true, "nor": true}

var texEscapes = strings.NewReplacer(`\`, `\backslash `, "{", `\{`, "}", `\}`, "$", `\$`, "%", `\%`, "#", `\#`, "&", `\&`, "_", `\_`,
	"^", `\hat{}`, "~", `\sim `, "\n", " ", "\t", " ")

var texOperators = map[string]string{"∑": `\sum`, "∏": `\prod`, "∐": `\coprod`, "∫": `\int`, "∬": `\iint`, "∭": `\iiint`, "∮": `\oint`,
	"⋃": `\bigcup`, "⋂": `\bigcap`, "⋁": `\bigvee`, "⋀": `\bigwedge`}

var texDelimiters = map[string]string{"": ".", "{": `\{`, "}": `\}`, "‖": `\|`, "⟨": `\langle `, "⟩": `\rangle `, "〈": `\langle `, "〉": `\rangle `,
	"⌈": `\lceil `, "⌉": `\rceil `, "⌊": `\lfloor `, "⌋": `\rfloor `}

var texMarks = map[string]string{"\u0300": `\grave`, "\u0301": `\acute`, "\u0302": `\widehat`, "\u0303": `\widetilde`, "\u0304": `\bar`,
	"\u0305": `\overline`, "\u0306": `\breve`, "\u0307": `\dot`, "\u0308": `\ddot`, "\u030c": `\check`, "\u20d7": `\overrightarrow`,
	"\u20d6": `\overleftarrow`, "\u20e1": `\overleftrightarrow`, "\u20db": `\dddot`, "\u0332": `\underline`, "^": `\widehat`, "~": `\widetilde`,
	"¯": `\overline`, "‾": `\overline`, "→": `\overrightarrow`, "←": `\overleftarrow`, "⏞": `\overbrace`, "⏟": `\underbrace`}

var texScripts = map[string]string{"double-struck": `\mathbb`, "script": `\mathcal`, "fraktur": `\mathfrak`, "sans-serif": `\mathsf`,
	"monospace": `\mathtt`}

var texFunctions = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup liminf
		max min sup inf det gcd dim ker deg arg hom Pr`) {
		names[name] = true
	}
	return names
}()
