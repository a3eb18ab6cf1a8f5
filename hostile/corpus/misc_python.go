package corpus

import (
	"fmt"
	"strings"
)

// miscPython returns cases in Python with sources that are too large or unusual to be a file.
func miscPython() []Case {
	const refused = "source_invalid"
	source := func(name, mechanism, want, code string) Case {
		return Case{Name: "py/source/" + name, Mechanism: mechanism, Want: mustWant(want), Tool: "tool.py",
			Files: []File{{Path: "tool.py", Data: []byte(code)}}}
	}
	return []Case{
		source("brackets", "A source in Python of half a million brackets.", refused, strings.Repeat("(", 500_000)),
		source("finally", "What is in a finally is compiled twice, and so is the finally within it: a few lines, and a million copies.", refused+" or timeout or memory_limit", finals(19)),
		source("comprehensions", "Comprehensions within comprehensions, which are functions within functions.", refused, "return "+strings.Repeat("[", 150)+"1"+strings.Repeat(" for a in [1]]", 150)),
		source("constant", "A number of two hundred thousand digits, in the source.", refused, "return "+strings.Repeat("9", 200_000)),
		source("arguments", "A call with fifty thousand arguments by name.", "timeout or source_invalid", "def f(**k): return len(k)\nreturn f("+named(50_000)+")"),
		source("nul", "A source in Python with a NUL.", refused, "return 1\n\x00return 2"),
		source("cookie", "A source that says it is written in another encoding, where its code would be other code.", "output 1", "# -*- coding: utf-7 -*-\nreturn 1\n# +AAo-raise SystemExit(9)"),
		source("latin", "A source in the encoding that it names.", refused, "# coding: latin-1\nreturn '\xe4'"),
		chain("chain", "A module that imports a module, and so on, longer than a tool may have them.", refused, 1_000),
	}
}

// finals returns nested try statements, each in the finally of the previous one.
func finals(deep int) string {
	var b strings.Builder
	for n := range deep {
		indent := strings.Repeat(" ", n)
		b.WriteString(indent + "try: input()\n" + indent + "finally:\n")
	}
	return b.String() + strings.Repeat(" ", deep) + "input()\n"
}

// named returns keyword arguments.
func named(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d=0,", i)
	}
	return b.String()
}

// chain returns a case of modules that each import the next, a thousand bytes long.
func chain(name, mechanism, want string, files int) Case {
	c := Case{Name: "py/source/" + name, Mechanism: mechanism, Want: mustWant(want), Tool: "."}
	text := strings.Repeat("x", 1_000)
	for i := range files {
		name := fmt.Sprintf("m%d.py", i)
		if i == 0 {
			name = "main.py"
		}
		c.Files = append(c.Files, File{Path: name, Data: fmt.Appendf(nil, "import m%d\ntext = '%s'\n", i+1, text)})
	}
	return c
}
