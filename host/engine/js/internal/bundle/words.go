package bundle

import "strings"

// Sets of words that the scanner and the wrapper of the entry distinguish.
var (
	// operators are followed by an operand, or by a statement.
	operators = words("return typeof instanceof in new delete void throw case do else await yield default extends")
	// declarators begin declarations of variables, which can end without a value.
	declarators = words("let const var")
	// jumps are complete statements, with or without a label.
	jumps = words("break continue debugger")
	// infix words continue an expression or a declaration of the previous line.
	infix = words("in instanceof of as satisfies extends is from")
	// prefix words cannot end an expression, although they look like names.
	prefix = words("class function async static get set let const var import export keyof infer readonly unique asserts abstract declare type")
	// modifiers precede a declaration.
	modifiers = words("export default async abstract declare")
	// control words are followed by a head in parentheses and a statement.
	control = words("if for while with switch catch")
	// importWords are the keywords of an import declaration.
	importWords = words("import type from as default defer source")

	// unbindable words are reserved, or name something that a parameter must not hide.
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
