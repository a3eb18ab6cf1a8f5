package js

import (
	"strings"
	"unicode"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/spell"
)

// The commonest errors of goja, which name neither what was null nor what to do.
var (
	notDefined = lazyRegexp(`^ReferenceError: (\S+) is not defined$`)
	readOfNone = lazyRegexp(`^TypeError: Cannot read property '(.*)' of undefined(?: or null)?$`)
	useOfNone  = lazyRegexp(`^TypeError: (Cannot convert undefined or null to object|Value is not object coercible|Value is not an object: (null|undefined))$`)
	noMember   = lazyRegexp(`^TypeError: Object has no member '(.*)'$`)
)

// advise adds a hint to the fault of an error that goja threw, and makes its message right. A guest that throws the same
// text gets the same hint.
func (e *errorMapper) advise(f *abi.Fault) {
	if m := notDefined().FindStringSubmatch(f.Message); m != nil {
		f.Hint = absentHint(m[1])
	} else if m := readOfNone().FindStringSubmatch(f.Message); m != nil {
		f.Message = "TypeError: Cannot read property '" + m[1] + "' of null or undefined"
		f.Hint = e.noneHint(m[1])
	} else if useOfNone().MatchString(f.Message) {
		f.Message = "TypeError: the value is null or undefined"
		f.Hint = e.noneHint("")
	} else if m := noMember().FindStringSubmatch(f.Message); m != nil {
		f.Message = "TypeError: " + m[1] + " is not a function of the object"
		f.Hint = e.operationHint(m[1])
	}
}

// noneHint is the hint for a property of what is null or undefined.
func (e *errorMapper) noneHint(property string) string {
	if e.program.script.forgottenAwait() != "" {
		return "" // that is more telling
	}
	if e.readNone {
		return "a store without a record is read as null; if that is the value here, write (await memory.get_content(store)) ?? {}"
	}
	if isPropertyName().MatchString(property) {
		return "if the value may be missing, write ?." + property
	}
	return ""
}

var isPropertyName = lazyRegexp(`^[\p{L}_$][\p{L}\p{N}_$]*$`)

// operationHint is the hint for a method that has about the name of a memory operation, as memory.getContent has.
func (e *errorMapper) operationHint(method string) string {
	names := make([]string, len(e.program.operations))
	for i, op := range e.program.operations {
		names[i] = op.Name
	}
	if name := spell.Name(snakeCase(method), names); name != "" {
		return "did you mean memory." + name + "?"
	}
	return ""
}

// snakeCase writes a name in camel case with underscores.
func snakeCase(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
