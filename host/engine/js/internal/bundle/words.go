package bundle

import "strings"

// The words that a scan and the wrapping of an entry tell apart.
var (
	// operators are followed by an operand, or by a statement.
	operators = words("return typeof instanceof in new delete void throw case do else await yield default extends")
	// declarators begin declarations of variables, which can end without a value.
	declarators = words("let const var")
	// jumps are whole statements, or are with a label.
	jumps = words("break continue debugger")
	// infix words continue an expression, or a declaration, that the line before began.
	infix = words("in instanceof of as satisfies extends is from")
	// prefix words are not the end of an expression, though they look like a name.
	prefix = words("class function async static get set let const var import export keyof infer readonly unique asserts abstract declare type")
	// modifiers stand before a declaration.
	modifiers = words("export default async abstract declare")
	// control words have a head in parentheses that a statement follows.
	control = words("if for while with switch catch")
	// importWords are the keywords of an import declaration.
	importWords = words("import type from as default defer source")

	// unbindable words are no names of variables, or name what a parameter must not hide.
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
