package bundle

import "strings"

// The scanner and the entry wrapper use the following sets of words.
var (
	// operators contains the words that must be followed by an operand or a statement.
	operators = words("return typeof instanceof in new delete void throw case do else await yield default extends")
	// declarators contains the words that begin a variable declaration. A variable declaration need
	// not assign a value.
	declarators = words("let const var")
	// jumps contains the words that are complete statements. A label can follow such a word.
	jumps = words("break continue debugger")
	// infix contains words that can continue an expression or a declaration on a new line.
	infix = words("in instanceof of as satisfies extends is from")
	// prefix contains the words that look like names but cannot end an expression.
	prefix = words("class function async static get set let const var import export keyof infer readonly unique asserts abstract declare type")
	// modifiers contains the words that can precede a declaration.
	modifiers = words("export default async abstract declare")
	// control contains the words that are followed by an expression in parentheses and then by a
	// statement.
	control = words("if for while with switch catch")
	// importWords contains the keywords of an import declaration.
	importWords = words("import type from as default defer source")

	// unbindable contains names that cannot be parameters: reserved words, and the names of globals
	// that a parameter must not hide.
	unbindable = words("arguments await break case catch class const continue debugger default delete do else enum " +
		"eval export extends false finally for function if implements import in instanceof interface let new null " +
		"package private protected public return static super switch this throw true try typeof undefined var void " +
		"while with yield input context env console memory")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
