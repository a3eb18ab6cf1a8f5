package bindgen

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// tsModuleDocs maps modules to the comments on their interfaces.
var tsModuleDocs = map[string]string{
	abi.MemoryModule: "The tool's memory. A call takes effect immediately; awaiting its promise returns the reply. A failed call " +
		"rejects with a MemoryAccessError, and an unhandled rejection fails the run. The arguments can also be passed as one object.",
	abi.ModelModule: "The tool's language models. Several calls can wait for their answers at the same time: await them together, " +
		"as with Promise.all. A failed call rejects with a MemoryAccessError.",
}

// typeScript renders the types of all modules.
func (g *generator) typeScript() (string, error) {
	var b strings.Builder
	for _, t := range g.objects() {
		tsInterface(&b, t)
	}
	for _, module := range g.table.Modules() {
		if module != abi.MemoryModule {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%sexport interface %s {\n", tsComment("", tsModuleDocs[module]), pascal(module))
		for i, op := range g.table.Of(module) {
			if i > 0 {
				b.WriteString("\n")
			}
			for _, form := range op.AllForms() {
				tsOperation(&b, form)
			}
		}
		b.WriteString("}\n")
	}
	return b.String(), nil
}

func tsInterface(b *strings.Builder, t abi.Type) {
	if t.Doc != "" {
		b.WriteString(tsComment("", t.Doc))
	}
	generic := ""
	if holdsContent(t) {
		generic = "<T>"
	}
	fmt.Fprintf(b, "export interface %s%s {\n", t.Name, generic)
	for _, f := range t.Fields {
		if f.Doc != "" {
			b.WriteString(tsComment("  ", f.Doc))
		}
		fmt.Fprintf(b, "  %s%s: %s;\n", f.Name, mark(f.Optional), tsType(f.Type))
	}
	b.WriteString("}\n\n")
}

// tsDoc escapes the end of a comment in a text.
func tsDoc(text string) string { return strings.ReplaceAll(text, "*/", "*\\/") }

// tsComment renders a doc comment. A comment that does not fit on one line is wrapped at 100
// columns.
func tsComment(indent, text string) string {
	const width = 100
	text = sentence(tsDoc(text))
	if line := indent + "/** " + text + " */"; len(line) <= width {
		return line + "\n"
	}
	return indent + "/**\n" + wrapped(text, indent+" * ", width) + "\n" + indent + " */\n"
}

func mark(optional bool) string {
	if optional {
		return "?"
	}
	return ""
}

func tsOperation(b *strings.Builder, op abi.Operation) {
	generic := func(t abi.Type) string {
		if holdsContent(t) {
			return "<T = { [name: string]: any }>"
		}
		return ""
	}
	for _, v := range op.Variants {
		fmt.Fprintf(b, "%s  %s%s(%s): Promise<%s>;\n",
			tsComment("  ", v.Doc), op.Function(), generic(v.Reply), tsVariant(op, v), tsType(v.Reply))
	}
	var places, names []string
	for _, p := range op.Params {
		places = append(places, identifier(p.Name)+mark(!p.Required)+": "+tsParam(p))
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			names = append(names, name+mark(!p.Required || len(p.Aliases) > 0)+": "+tsParam(p))
		}
	}
	b.WriteString(tsComment("  ", op.Doc))
	for _, params := range []string{strings.Join(places, ", "), "args: { " + strings.Join(names, "; ") + " }"} {
		fmt.Fprintf(b, "  %s%s(%s): Promise<%s>;\n", op.Function(), generic(op.Reply), params, tsType(op.Reply))
	}
}

// tsVariant renders the parameters of a variant. The last parameter selects the variant.
func tsVariant(op abi.Operation, v abi.Variant) string {
	var params []string
	for _, p := range op.Params {
		name := identifier(p.Name) + ": "
		switch {
		case p.Name == v.Param && v.Member == "":
			return strings.Join(append(params, name+v.Value), ", ")
		case p.Name == v.Param:
			return strings.Join(append(params, fmt.Sprintf("%s%s & { %s: %s }", name, tsParam(p), v.Member, v.Value)), ", ")
		case p.Required:
			params = append(params, name+tsParam(p))
		default:
			params = append(params, name+tsParam(p)+" | undefined")
		}
	}
	return strings.Join(params, ", ")
}

func tsParam(p abi.Param) string {
	if p.Kind == abi.StoreName {
		return "string"
	}
	return tsType(p.Type)
}

func tsType(t abi.Type) string {
	text := map[abi.Shape]string{
		abi.Any: "unknown", abi.Content: "T", abi.Text: "string", abi.Boolean: "boolean", abi.Integer: "number", abi.Number: "number",
		abi.Success: "true", abi.Object: t.Name, abi.Named: t.Name,
	}[t.Shape]
	if t.Shape == abi.List {
		text = "Array<" + tsType(*t.Items) + ">"
	}
	if t.Shape == abi.Object && holdsContent(t) {
		text += "<T>"
	}
	if t.Nullable && t.Shape != abi.Any {
		text += " | null"
	}
	return text
}
