package corpus

import (
	"fmt"
	"strings"
)

// miscSources returns cases with sources and inputs that are too large or unusual to be a file.
func miscSources() []Case {
	const refused = "source_invalid"
	const run = "return Object.keys(input).length;\n"
	input := func(name, mechanism, want, document string) Case {
		c := source("input/"+name, mechanism, want, run)
		c.Input = []byte(document)
		return c
	}
	return []Case{
		source("source/brackets", "A source of half a million brackets, for a parser that calls itself at each.", refused, strings.Repeat("(", 500_000)),
		source("source/operators", "A source of a long row of signs, each of which a parser calls itself for.", refused, "return "+strings.Repeat("!", 500_000)+"1"),
		source("source/additions", "A sum of half a million numbers, whose tree is as deep.", refused, "return 1"+strings.Repeat("+1", 500_000)),
		source("source/else_ifs", "A chain of a hundred thousand decisions.", refused, strings.Repeat("if (input.a) 1; else ", 100_000)+"2"),
		source("source/arrows", "Functions that answer functions, fifty thousand times.", refused, "return "+strings.Repeat("a=>", 50_000)+"1"),
		source("source/templates", "Texts within texts.", refused, "return "+strings.Repeat("`${", 100_000)),
		source("source/members", "A chain of three hundred thousand members.", refused, "return input"+strings.Repeat(".a", 300_000)),
		source("source/cases", "A decision among a hundred thousand cases.", refused, "switch (input.a) {"+strings.Repeat("case 1:", 100_000)+"}"),
		source("source/variables", "A declaration of a hundred thousand variables.", refused, "let "+strings.Repeat("a,", 100_000)+"b"),
		source("source/regexp", "A regular expression of a million groups, in the source.", refused+" or stack_limit", "return /"+strings.Repeat("(", 1_000_000)+"/"),
		source("source/blank_lines", "A million empty lines, and one that fails.", "tool_error", strings.Repeat("\n", 1_000_000)+"throw new Error('far down')"),
		source("source/one_line", "A text of a megabyte in one line.", "output 1000000", "return '"+strings.Repeat("x", 1_000_000)+"'.length"),
		source("source/large", "A source of three megabytes of comments.", refused, strings.Repeat("/* nothing */\n", 220_000)),
		source("source/nul", "A source with a NUL, where some readers end.", "output 1 or source_invalid", "return 1;\x00 return 2"),
		source("source/not_utf8", "A source that is no text.", "output or source_invalid", "return '\xff\xfe\xc0\x80'.length"),
		source("source/marks", "A source that begins with three marks of its byte order.", "output 1 or source_invalid", strings.Repeat("\ufeff", 3)+"return 1"),
		source("source/generics", "Types within types, which a compiler tries as comparisons first.", refused, "const a = "+strings.Repeat("f<", 100_000)+"1", "tool.ts"),
		source("source/conditional_types", "A type of a hundred thousand conditions.", refused, "type T = "+strings.Repeat("1 extends 2 ? ", 100_000)+"3;", "tool.ts"),
		imports("source/import_chain", "A file that imports a file that imports a file, five thousand times.", refused, 5_000, 1),
		imports("source/import_large", "Files that are small enough each, and sixty megabytes together.", refused, 60, 1<<20),
		input("deep", "An input nested a hundred thousand deep.", "input_invalid or invalid_argument", strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000)),
		input("deep_list", "An input nested a thousand deep, in lists.", "input_invalid or invalid_argument", `{"a":`+strings.Repeat("[", 1_000)+strings.Repeat("]", 1_000)+"}"),
		input("large", "An input of three megabytes.", "input_invalid or too_large", `{"a":"`+strings.Repeat("x", 3<<20)+`"}`),
		input("many_keys", "An input of a hundred thousand names.", "output 100000 or input_invalid or too_large", manyNames(100_000)),
		input("key_twice", "An input with a name twice, spelt in two ways.", "input_invalid or invalid_argument", `{"a":1,"\u0061":2}`),
		input("number_long", "A number of a million digits.", "input_invalid or invalid_argument", `{"a":`+strings.Repeat("9", 1_000_000)+"}"),
		input("number_exponent", "A number whose exponent is a billion.", "input_invalid or invalid_argument", `{"a":1e1000000000}`),
		input("surrogate", "A text with half of a pair.", "input_invalid or invalid_argument", `{"a":"\udead"}`),
		input("not_utf8", "A text that is none.", "input_invalid or invalid_argument", "{\"a\":\"\xff\"}"),
		input("not_an_object", "An input that is a list.", "input_invalid", `[1,2,3]`),
		input("cut", "An input that ends in the middle.", "input_invalid or invalid_argument", `{"a":[1,{"b":"c`),
		input("two", "Two inputs, one after the other.", "input_invalid or invalid_argument", `{"a":1} {"a":2}`),
		input("proto", "An input with a member __proto__.", "output 2", `{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}`),
		input("collisions", "Names that many tables put into one place.", "output 20000", colliding(20_000)),
	}
}

// source returns a case of one file of code: tool.js by default.
func source(name, mechanism, want, code string, file ...string) Case {
	path := append(file, "tool.js")[0]
	return Case{
		Name: "js/" + name, Mechanism: mechanism, Want: mustWant(want),
		Tool: path, Files: []File{{Path: path, Data: []byte(code)}},
	}
}

// imports returns a case of files that each import the next and have size bytes of text.
func imports(name, mechanism, want string, files, size int) Case {
	c := Case{Name: "js/" + name, Mechanism: mechanism, Want: mustWant(want), Tool: "."}
	text := strings.Repeat("x", size)
	for i := range files {
		code := fmt.Sprintf("import next from './f%d.js';\nexport default () => next() + '%s'.length;\n", i+1, text)
		if i == files-1 {
			code = "export default () => 0;\n"
		}
		path := fmt.Sprintf("f%d.js", i)
		if i == 0 {
			path = "main.js"
		}
		c.Files = append(c.Files, File{Path: path, Data: []byte(code)})
	}
	return c
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// colliding returns names that collide under the hash 31*h+c.
func colliding(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"`)
		for bit := range 15 {
			b.WriteString([]string{"Aa", "BB"}[i>>bit&1])
		}
		b.WriteString(`":0`)
	}
	return "{" + b.String()[1:] + "}"
}
