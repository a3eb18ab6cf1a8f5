package bindgen

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// cPrototypes renders the prototypes in toolrun.h.
func (g *generator) cPrototypes() (string, error) {
	var b strings.Builder
	for _, op := range g.table {
		comment := "toolrun_" + op.Name + " " + docOf(op) + "."
		lines := wrapped(strings.ReplaceAll(comment, "*/", "* /"), " * ", 100)
		fmt.Fprintf(&b, "/* %s */\n%s;\n", strings.TrimPrefix(lines, " * "), cFunction(op))
	}
	return b.String(), nil
}

// cFunction renders the declaration of a function that a plug-in calls.
func cFunction(op abi.Operation) string {
	return cHead("toolrun_reply toolrun_"+op.Name, prefixed("toolrun_text ", identifiers(op)))
}

// cImport renders the declaration of an import.
func cImport(op abi.Operation) string {
	var params []string
	for _, name := range identifiers(op) {
		params = append(params, "const void *"+name, "uint32_t "+name+"_len")
	}
	return cHead("int32_t "+cImportName(op), params)
}

// cImportName returns the C name of an import. The name must differ from the name of the function
// that calls the import.
func cImportName(op abi.Operation) string {
	if op.Module == "" {
		return "toolrun_memory_" + op.Name
	}
	return "toolrun_imported_" + op.Name
}

func cHead(name string, params []string) string {
	if len(params) == 0 {
		return name + "(void)"
	}
	return folded(name+"(", params, ")")
}

// cImports renders the imports in toolrun.h.
func (g *generator) cImports() (string, error) {
	var b strings.Builder
	for _, op := range g.table {
		fmt.Fprintf(&b, "TOOLRUN_IMPORT(%q, %q)\n%s;\n", op.ModuleName(), op.Function(), cImport(op))
	}
	return b.String(), nil
}

// cFunctions renders the functions in toolrun.c.
func (g *generator) cFunctions() (string, error) {
	var b strings.Builder
	for i, op := range g.table {
		var args []string
		for _, name := range identifiers(op) {
			args = append(args, name+".ptr", "(uint32_t)"+name+".len")
		}
		call := folded("    return reply_of("+cImportName(op)+"(", args, "));")
		fmt.Fprintf(&b, "%s%s {\n%s\n}\n", blank(i), cFunction(op), call)
	}
	return b.String(), nil
}

// cStub renders stubs of the imports. Authors use the stubs for native tests on their machine.
func (g *generator) cStub() (string, error) {
	var b strings.Builder
	for i, op := range g.table {
		var texts []string
		for _, name := range identifiers(op) {
			texts = append(texts, "toolrun_make_text("+name+", "+name+"_len)")
		}
		fmt.Fprintf(&b, "%s%s {\n", blank(i), cImport(op))
		fmt.Fprintf(&b, "%s\n    return perform(%q, args, %d);\n}\n", folded("    const toolrun_text args[] = {", append(texts, "TOOLRUN_ABSENT"), "};"), op.Name, len(texts))
	}
	return b.String(), nil
}

func blank(i int) string {
	if i == 0 {
		return ""
	}
	return "\n"
}

func prefixed(prefix string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = prefix + name
	}
	return all
}

// folded writes a head and its items in lines of at most 120 characters. From the second line on,
// the items are aligned with the end of the head.
func folded(head string, items []string, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	column := len(head)
	for i, item := range items {
		end := ","
		if i == len(items)-1 {
			end = tail
		}
		switch {
		case i > 0 && column+1+len(item)+len(end) > 120:
			b.WriteString("\n" + strings.Repeat(" ", len(head)))
			column = len(head)
		case i > 0:
			b.WriteString(" ")
			column++
		}
		b.WriteString(item + end)
		column += len(item) + len(end)
	}
	return b.String()
}
