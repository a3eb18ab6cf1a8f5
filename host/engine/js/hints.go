package js

import (
	"strings"
	"unicode"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

// The patterns below match the most common error messages of goja. These messages contain neither
// the name of a null value nor a suggestion for fixing the mistake.
var (
	notDefined = lazyregexp.New(`^ReferenceError: (\S+) is not defined$`)
	readOfNone = lazyregexp.New(`^TypeError: Cannot read property '(.*)' of undefined(?: or null)?$`)
	useOfNone  = lazyregexp.New(`^TypeError: (Cannot convert undefined or null to object|Value is not object coercible|Value is not an object: (null|undefined))$`)
	noMember   = lazyregexp.New(`^TypeError: Object has no member '(.*)'$`)
)

// advise adds a hint to a fault that was caused by an error of goja. It also corrects the message
// of this fault. If a guest throws an error that has the same text as an error of goja, the fault
// gets the same hint.
func (e *errorMapper) advise(f *abi.Fault) {
	if m := notDefined().FindStringSubmatch(f.Message); m != nil {
		f.Hint = unsupportedHint(m[1])
	} else if m := readOfNone().FindStringSubmatch(f.Message); m != nil {
		f.Message = "TypeError: Cannot read property '" + m[1] + "' of null or undefined"
		f.Hint = e.noneHint(m[1])
	} else if useOfNone().MatchString(f.Message) {
		f.Message = "TypeError: the value is null or undefined"
		f.Hint = e.noneHint("")
	} else if m := noMember().FindStringSubmatch(f.Message); m != nil {
		f.Message = "TypeError: " + m[1] + " is not a function"
		f.Hint = e.operationHint(m[1])
	}
}

// noneHint returns the hint for the error that occurs when a guest reads a property of null or
// undefined.
func (e *errorMapper) noneHint(property string) string {
	if e.program.script.missingAwait() != "" {
		return "" // if an await is missing, the hint about this is more useful
	}
	if e.readNone {
		return "use (await memory.get_content(store)) ?? {} if the record may be missing"
	}
	if isPropertyName().MatchString(property) {
		return "if the value can be missing, write ?." + property
	}
	return ""
}

var isPropertyName = lazyregexp.New(`^[\p{L}_$][\p{L}\p{N}_$]*$`)

// operationHint returns a hint for an unknown method whose name resembles a memory operation, such
// as memory.getContent.
func (e *errorMapper) operationHint(method string) string {
	var names []string
	for _, op := range e.program.operations.Of(abi.MemoryModule) {
		names = append(names, op.Name)
	}
	if name := spell.Name(snakeCase(method), names); name != "" {
		return "did you mean memory." + name + "?"
	}
	return ""
}

// snakeCase converts a name from camel case to snake case.
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
