package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

var (
	fieldLine = lazyregexp.New(`^(\S+) as (.+)$`)
	listType  = lazyregexp.New(`^list of (\S+)$`)
)

// fieldReader reads the fields and the permissions of a machine.
type fieldReader struct{ *source }

// fields reads lines such as "question as text, is required". The method appends the declared
// fields to the argument.
func (r fieldReader) fields(level int, fields []Field) []Field {
	for l := r.peek(); l != nil; l = r.peek() {
		text, comment := words(l)
		m := fieldLine().FindStringSubmatch(text)
		if m == nil {
			if level == 2 && len(text) > 5 && spell.Name(text, sections) != "" {
				return fields // a misspelled section; words with fewer letters, such as "res", are names of fields
			}
			if h := stepHeader(l); level == 2 && section(l) == "" && (h == nil || !contains(stepKinds, h[1])) {
				r.errorf(r.at(l), problem.Syntax, "write `NAME as TYPE`", "the line %s is not a field", problem.Quote(text))
				r.take(l, level, "")
				continue
			}
			return fields
		}
		f := Field{Name: r.name(l, m[1], 0)}
		r.take(l, level, withComment(text, comment))
		r.named(f.Name, "a field")
		r.fieldType(l, &f, m[2])
		if i := slices.IndexFunc(fields, func(g Field) bool { return g.Value == f.Value }); i >= 0 {
			r.errorf(f.Position, problem.DuplicateName, "", "the field %s is declared twice", problem.Quote(f.Value))
			continue
		}
		if len(fields) == MaxItems {
			r.errorf(f.Position, problem.OverLimit, "", "there are more than %d fields", MaxItems)
			return fields
		}
		fields = append(fields, f)
	}
	return fields
}

// fieldType reads the type and the options in a field's line.
func (r fieldReader) fieldType(l *line, f *Field, text string) {
	name, options, _ := strings.Cut(text, ",")
	name = strings.TrimSpace(name)
	at := r.name(l, name, strings.Index(l.text, " as ")+1).Position
	f.Type = Type(name)
	if m := listType().FindStringSubmatch(name); m != nil {
		f.Type, f.Items = List, Type(m[1])
		r.knownType(at, m[1])
	} else {
		r.knownType(at, name)
	}
	for options = strings.TrimSpace(options); options != ""; {
		switch {
		case option(&options, "is required"):
			f.Required = true
		case option(&options, "is optional"):
			f.Optional = true
		case strings.HasPrefix(options, "default "):
			f.Default = json.RawMessage(strings.TrimSpace(strings.TrimPrefix(options, "default ")))
			if !json.Valid(f.Default) {
				r.errorf(at, problem.BadValue, `write a JSON value, such as: default "en"`, "the default of %s is not valid JSON", problem.Quote(f.Value))
				f.Default = nil
			}
			return
		default:
			r.errorf(at, problem.UnknownKey, "use `is required`, `is optional` or `default VALUE`", "the text %s is not an option of a field", problem.Quote(options))
			return
		}
	}
}

// option reports whether a list of options begins with a given option. If so, the function removes
// the option from the list.
func option(options *string, name string) bool {
	rest, found := strings.CutPrefix(*options, name)
	if !found || rest != "" && rest[0] != ',' && rest[0] != ' ' {
		return false
	}
	*options = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ","))
	return true
}

// commonTypes maps names of types in other languages to the corresponding types in machines.
var commonTypes = map[string]Type{"string": Text, "bool": Boolean, "int": Integer, "float": Number, "array": List, "map": Object, "json": Any}

func (r fieldReader) knownType(at Position, name string) {
	if slices.Contains(types, name) {
		return
	}
	hint := "the types are: " + strings.Join(types, ", ") + ", list of TYPE"
	if near := spell.Name(name, types); near != "" {
		hint = "did you mean " + near + "?"
	}
	if same, ok := commonTypes[name]; ok {
		hint = "write " + string(same)
	}
	r.errorf(at, problem.BadValue, hint, "the text %s is not a type", problem.Quote(name))
}

// permissionKeys contains the keywords of the section "ensures" that begin a list of permissions.
var permissionKeys = []string{"allowed to", "not allowed to", "requires approval for"}

// ensures reads the permissions of a machine.
func (r fieldReader) ensures() {
	p := &r.doc.Permissions
	lists := map[string]*[]Name{"allowed to": &p.Allowed, "not allowed to": &p.Denied, "requires approval for": &p.Approval}
	var current *[]Name
	for l := r.peek(); l != nil && section(l) == ""; l = r.peek() {
		text, comment := words(l)
		if text == "permissions" {
			r.take(l, 2, withComment(text, comment))
			continue
		}
		key, rest := permissionKey(text)
		if key != "" {
			current = lists[key]
			r.take(l, 3, withComment(text, comment))
			r.permissionNames(l, current, rest)
			continue
		}
		if current == nil || stepHeader(l) != nil {
			hint := "write permissions, and on an indented line below: " + strings.Join(permissionKeys, ", ")
			r.errorf(r.at(l), problem.UnknownKey, hint, "the line %s is not a part of the section `ensures`", problem.Quote(text))
			r.take(l, 3, "")
			continue
		}
		r.take(l, 4, withComment(text, comment))
		r.permissionNames(l, current, text)
	}
}

// permissionKey splits a line into a keyword and the names that follow the keyword.
func permissionKey(text string) (key, rest string) {
	for _, key := range permissionKeys {
		if rest, ok := strings.CutPrefix(text, key); ok && (rest == "" || rest[0] == ' ') {
			return key, rest
		}
	}
	return "", ""
}

// permissionNames reads comma-separated names.
func (r fieldReader) permissionNames(l *line, list *[]Name, text string) {
	from := 0
	if key, _ := permissionKey(text); key == "" {
		from = len(l.text) - len(strings.TrimLeft(l.text, " "))
	}
	for part := range strings.SplitSeq(text, ",") {
		value := strings.TrimSpace(part)
		if value == "" {
			continue
		}
		n := r.name(l, value, from)
		from = n.Column - l.indent - 1 + len(value)
		r.named(n, "a permission")
		if len(*list) == MaxItems {
			r.errorf(n.Position, problem.OverLimit, "", "there are more than %d permissions", MaxItems)
			return
		}
		*list = append(*list, n)
	}
}
