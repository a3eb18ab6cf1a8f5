package bindgen

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// pythonOf returns a function that renders the Python types of a module.
func pythonOf(module string) func(*generator) (string, error) {
	return func(g *generator) (string, error) {
		own := &generator{g.table.Of(module), g.tree}
		var b strings.Builder
		for _, t := range own.objects() {
			pyDict(&b, t)
		}
		for _, op := range own.table {
			pyOperation(&b, op)
		}
		return b.String(), nil
	}
}

// pyDict renders an object. Optional members need a separate class, because Python 3.9 does not
// have NotRequired.
func pyDict(b *strings.Builder, t abi.Type) {
	var required, optional []abi.Field
	for _, f := range t.Fields {
		if f.Optional {
			optional = append(optional, f)
		} else {
			required = append(required, f)
		}
	}
	base := "TypedDict"
	switch {
	case len(optional) == 0:
		pyClass(b, t.Name, base, required)
		return
	case len(required) > 0:
		base = "_" + t.Name
		pyClass(b, base, "TypedDict", required)
	}
	pyClass(b, t.Name, base+", total=False", optional)
}

func pyClass(b *strings.Builder, name, bases string, fields []abi.Field) {
	fmt.Fprintf(b, "class %s(%s):\n", name, bases)
	for _, f := range fields {
		if f.Doc != "" {
			b.WriteString(wrapped(pyDoc(f.Doc), "    # ", 100) + "\n")
		}
		fmt.Fprintf(b, "    %s: %s\n", f.Name, pyType(f.Type))
	}
	if len(fields) == 0 {
		b.WriteString("    pass\n")
	}
	b.WriteString("\n")
}

// pyDoc renders a text as Python documentation.
func pyDoc(text string) string {
	return strings.ReplaceAll(nulls.ReplaceAllString(text, "None"), "`", "``")
}

// pyOperation renders an overload for each form of an operation and each combination of argument
// names.
func pyOperation(b *strings.Builder, op abi.Operation) {
	for _, form := range op.AllForms() {
		pyForm(b, form, len(op.Forms) > 1)
	}
	b.WriteString("\n")
}

// pyForm renders an operation without further forms. If overloaded is true, there are other
// functions with the same name.
func pyForm(b *strings.Builder, op abi.Operation, overloaded bool) {
	ways := spellings(op.Params)
	for i, names := range ways {
		if overloaded || len(ways) > 1 {
			b.WriteString("@overload\n")
		}
		params := make([]string, len(names))
		for j, p := range op.Params {
			params[j] = names[j] + ": " + pyParam(p)
		}
		if i > 0 {
			params = append([]string{"*"}, params...)
		}
		fmt.Fprintf(b, "def %s(%s) -> %s:", op.Function(), strings.Join(params, ", "), pyType(op.Reply))
		if i > 0 {
			b.WriteString(" ...\n")
			continue
		}
		doc := sentence(strings.ReplaceAll(pyDoc(op.Doc), `\`, `\\`))
		fmt.Fprintf(b, "\n    \"\"\"%s\"\"\"\n\n", strings.TrimSpace(wrapped(doc, "    ", 100)))
	}
}

// spellings returns every combination of argument names, starting with the primary names.
func spellings(params []abi.Param) [][]string {
	ways := [][]string{nil}
	for _, p := range params {
		var longer [][]string
		for _, way := range ways {
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				longer = append(longer, append(way[:len(way):len(way)], name))
			}
		}
		ways = longer
	}
	return ways
}

func pyParam(p abi.Param) string {
	text := "str"
	if p.Kind != abi.StoreName {
		text = pyType(p.Type)
	}
	if p.Required {
		return text
	}
	if p.Type.Shape != abi.Any && !p.Type.Nullable {
		text = "Optional[" + text + "]"
	}
	return text + " = ..."
}

func pyType(t abi.Type) string {
	text := map[abi.Shape]string{
		abi.Any: "Any", abi.Content: "Any", abi.Text: "str", abi.Boolean: "bool", abi.Integer: "int", abi.Number: "float",
		abi.Success: "Literal[True]", abi.Object: t.Name, abi.Named: t.Name,
	}[t.Shape]
	if t.Shape == abi.List {
		text = "list[" + pyType(*t.Items) + "]"
	}
	if t.Nullable && text != "Any" {
		text = "Optional[" + text + "]"
	}
	return text
}
