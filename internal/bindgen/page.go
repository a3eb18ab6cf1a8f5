package bindgen

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// pageFunctions returns a function that renders a table. The table lists the functions of a module.
func pageFunctions(module string) func(*generator) (string, error) {
	return func(g *generator) (string, error) {
		var b strings.Builder
		b.WriteString("| function | type |\n| --- | --- |\n")
		for _, op := range g.table.Of(module) {
			var params []string
			for _, p := range op.Params {
				params = append(params, p.Name, p.Name+"_len")
			}
			fmt.Fprintf(&b, "| `%s` | `(%s) -> i32` |\n", op.Function(), strings.Join(params, ", "))
		}
		return b.String(), nil
	}
}

// pageReplies renders a table with the arguments and the replies of all operations.
func (g *generator) pageReplies() (string, error) {
	var b strings.Builder
	b.WriteString("| operation | arguments | reply |\n| --- | --- | --- |\n")
	for _, op := range g.table {
		for _, form := range op.AllForms() {
			fmt.Fprintf(&b, "| `%s` %s | %s | %s |\n", pageName(op), tableCell(form.Doc), pageArguments(form), pageReply(form))
		}
	}
	return b.String(), nil
}

// pageName returns the name of an operation. If the module is not "memory", the result also
// contains the name of the module.
func pageName(op abi.Operation) string {
	if op.Module == "" {
		return op.Name
	}
	return op.Module + "." + op.Function()
}

var (
	spans = regexp.MustCompile("`[^`]*`|[^`]+")
	nulls = regexp.MustCompile(`\bnull\b`)
)

// tableCell renders a text as a table cell. The word null is rendered as code.
func tableCell(text string) string {
	text = spans.ReplaceAllStringFunc(text, func(span string) string {
		if span[0] == '`' {
			return span
		}
		return nulls.ReplaceAllString(span, "`null`")
	})
	return strings.ReplaceAll(text, "|", "\\|")
}

// pageArguments describes the arguments whose values are JSON.
func pageArguments(op abi.Operation) string {
	var parts []string
	for _, p := range op.Params {
		if p.Kind == abi.StoreName {
			continue
		}
		text := "**" + p.Name + "**"
		if p.Doc != "" && p.Doc != p.Name {
			text += ": " + p.Doc
		}
		for i, f := range p.Type.Fields {
			separator := ". "
			if i == 0 && text == "**"+p.Name+"**" {
				separator = ": "
			}
			text += fmt.Sprintf("%s`%s` (%s)", separator, f.Name, pageType(f.Type))
			if f.Doc != "" {
				text += ": " + f.Doc
			}
		}
		parts = append(parts, tableCell(text))
	}
	return strings.Join(parts, "<br>")
}

// pageReply describes the reply and its variants.
func pageReply(op abi.Operation) string {
	parts := []string{pageValue(op.Reply)}
	for _, v := range op.Variants {
		condition := v.Param
		if v.Member != "" {
			condition += "." + v.Member
		}
		parts = append(parts, fmt.Sprintf("if `%s` is `%s`: %s", condition, v.Value, pageValue(v.Reply)))
	}
	return tableCell(strings.Join(parts, "<br>"))
}

func pageValue(t abi.Type) string {
	text := ""
	if t.Shape == abi.Object || t.Doc == "" {
		text = pageType(t)
	}
	switch {
	case t.Doc == "":
		return text
	case text == "":
		return t.Doc
	}
	return text + ": " + t.Doc
}

// pageType describes the type of a value.
func pageType(t abi.Type) string {
	if t.Name == "JsonObject" {
		t.Name = "object"
	}
	text := map[abi.Shape]string{
		abi.Any: "any JSON value", abi.Content: "the content", abi.Text: "text", abi.Boolean: "true or false", abi.Integer: "integer", abi.Number: "number",
		abi.Success: "true", abi.Named: t.Name,
	}[t.Shape]
	switch t.Shape {
	case abi.List:
		text = "list of " + pageType(*t.Items)
	case abi.Object:
		members := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			members[i] = fmt.Sprintf("%q", f.Name)
			if f.Type.Shape == abi.Success {
				members[i] += ":true"
			}
		}
		text = "`{" + strings.Join(members, ",") + "}`"
	}
	if t.Nullable && t.Shape != abi.Any {
		text += " or `null`"
	}
	return text
}
