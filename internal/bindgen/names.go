package bindgen

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// pythonKeywords contains the keywords of Python. A Python keyword cannot be the name of a
// parameter, because Python callers pass arguments by name.
var pythonKeywords = strings.Fields(`and as assert async await break class continue def del elif else except finally for from global
	if import in is lambda nonlocal not or pass raise return try while with yield`)

// isName reports whether a name is valid for an operation or a parameter.
func isName(s string) bool { return namePattern.MatchString(s) && !slices.Contains(pythonKeywords, s) }

// reserved contains the keywords that cannot be identifiers in languages other than Python. Names
// in the table become identifiers in several languages. If a name is a reserved keyword, its
// identifier ends in an underscore.
var reserved = strings.Fields(`args as async auto await bool break case catch chan char class const continue debugger def default
	defer del delete do double elif else enum err except export extends extern fallthrough false finally float for found from func function
	global go goto if implements import in inline int interface into is lambda let long map new nil nonlocal not null or package pass
	private protected public raise range register restrict return select short signed sizeof static string struct super switch
	this throw true try type typedef typeof union unsigned var void volatile while with yield`)

// identifier converts a name to a valid identifier.
func identifier(name string) string {
	if slices.Contains(reserved, name) {
		return name + "_"
	}
	return name
}

// pascal converts a name to PascalCase, such as GetContent.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(capitalised(word))
	}
	return b.String()
}

// camel converts a name to camelCase, such as modelChat.
func camel(name string) string {
	text := pascal(name)
	return strings.ToLower(text[:1]) + text[1:]
}

func capitalised(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// sentence converts a phrase to a sentence.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	return capitalised(strings.TrimSuffix(phrase, ".")) + "."
}

// identifiers returns identifiers for the parameters of an operation.
func identifiers(op abi.Operation) []string {
	names := make([]string, len(op.Params))
	for i, p := range op.Params {
		names[i] = identifier(p.Name)
	}
	return names
}

// objectsOf returns the named objects of an operation. If an object is nested in another object,
// the nested object precedes the other object.
func objectsOf(op abi.Operation) []abi.Type {
	var all []abi.Type
	if len(op.Forms) > 0 {
		for _, form := range op.Forms {
			all = append(all, objectsOf(form)...)
		}
		return all
	}
	for _, p := range op.Params {
		all = appendObjects(all, p.Type)
	}
	for _, v := range op.Variants {
		all = appendObjects(all, v.Reply)
	}
	return appendObjects(all, op.Reply)
}

func appendObjects(all []abi.Type, t abi.Type) []abi.Type {
	for _, f := range t.Fields {
		all = appendObjects(all, f.Type)
	}
	if t.Items != nil {
		all = appendObjects(all, *t.Items)
	}
	if t.Shape == abi.Object {
		all = append(all, t)
	}
	return all
}

// docOf returns the description of an operation. If the operation has several forms, the
// description covers all forms.
func docOf(op abi.Operation) string {
	var docs []string
	for _, form := range op.AllForms() {
		docs = append(docs, strings.TrimSuffix(form.Doc, "."))
	}
	return strings.Join(docs, "; or ")
}

// objects returns the named objects of the table without duplicates.
func (g *generator) objects() []abi.Type {
	var all []abi.Type
	for _, op := range g.table {
		for _, t := range objectsOf(op) {
			if !slices.ContainsFunc(all, func(other abi.Type) bool { return other.Name == t.Name }) {
				all = append(all, t)
			}
		}
	}
	return all
}

func sameObject(a, b abi.Type) bool { return reflect.DeepEqual(a.Fields, b.Fields) }

// holdsContent reports whether a value contains the content of a record.
func holdsContent(t abi.Type) bool {
	if t.Shape == abi.Content || t.Items != nil && holdsContent(*t.Items) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f abi.Field) bool { return holdsContent(f.Type) })
}

// wrapped wraps a text. Each line begins with a prefix and has at most "width" characters.
func wrapped(text, prefix string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width {
			lines, line = append(lines, prefix+line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, prefix+line), "\n")
}
