package abitest_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/abitest"
)

var update = flag.Bool("update", false, "write the generated parts of the page")

const page = "../ABI.md"

// TestPage checks that the generated sections of ABI.md match the table of codes and the vectors.
func TestPage(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := replace(t, replace(t, string(content), "faults", faultTable()), "vectors", workedBytes())
	if want == string(content) {
		return
	}
	if !*update {
		t.Fatal("the codes or vectors in abi/ABI.md are stale: go test ./abi/abitest -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPageNamesFunctions checks that ABI.md describes every function in the vectors, and that the
// vectors cover every operation on memory. A vector cannot call an external operation, because the
// answer of an external operation comes from outside of the host.
func TestPageNamesFunctions(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, v := range abitest.Vectors() {
		for _, s := range v.Steps {
			called[s.Function] = true
		}
	}
	for _, op := range abi.Operations() {
		if !op.External && !called["memory."+op.Name] {
			t.Errorf("no vector calls memory.%s", op.Name)
		}
	}
	for name := range called {
		_, function, _ := strings.Cut(name, ".")
		if !strings.Contains(string(content), "| `"+function+"` |") {
			t.Errorf("the page does not describe %s", name)
		}
	}
}

func replace(t *testing.T, content, part, with string) string {
	t.Helper()
	begin, end := "<!-- "+part+" -->\n", "<!-- /"+part+" -->"
	before, rest, ok := strings.Cut(content, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the page has no part %s", part)
	}
	return before + begin + with + end + after
}

func faultTable() string {
	var b strings.Builder
	b.WriteString("| number | code | meaning |\n| --- | --- | --- |\n")
	for _, code := range abi.Codes() {
		fmt.Fprintf(&b, "| -%d | `%s` | %s |\n", code.Number(), code, code.Meaning())
	}
	return b.String()
}

func workedBytes() string {
	var b strings.Builder
	for _, v := range abitest.Vectors() {
		fmt.Fprintf(&b, "**%s**\n\n```\n%s```\n\n", upper(v.Name), worked(v))
	}
	return b.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func worked(v abitest.Vector) string {
	var b strings.Builder
	for _, document := range []struct{ name, text string }{{"input", v.Input}, {"context", v.Context}} {
		if document.text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", document.name, document.text)
		}
	}
	if v.OutputBytes > 0 {
		fmt.Fprintf(&b, "limit    %d bytes of output\n", v.OutputBytes)
	}
	spans(&b, v.Before)
	for _, s := range v.Steps {
		var args []string
		for _, arg := range s.Args {
			args = append(args, fmt.Sprint(arg))
		}
		fmt.Fprintf(&b, "call     %s(%s) = %d\n", s.Function, strings.Join(args, ", "), s.Result)
	}
	spans(&b, v.After)
	if v.Exit != 0 {
		fmt.Fprintf(&b, "exit     %d\n", v.Exit)
	}
	effect(&b, v.Want)
	return b.String()
}

func spans(b *strings.Builder, list []abitest.Span) {
	for _, s := range list {
		for at := 0; at < len(s.Bytes); at += 16 {
			part := s.Bytes[at:min(at+16, len(s.Bytes))]
			fmt.Fprintf(b, "%08x %-47s  %s\n", int(s.At)+at, fmt.Sprintf("% x", part), printable(part))
		}
	}
}

func printable(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c < ' ' || c > '~' {
			out[i] = '.'
		}
	}
	return string(out)
}

func effect(b *strings.Builder, e abitest.Effect) {
	for _, c := range e.Calls {
		args := make([]string, len(c.Args))
		for i, arg := range c.Args {
			if args[i] = string(arg); args[i] == "" {
				args[i] = "absent"
			}
		}
		fmt.Fprintf(b, "host     memory.%s(%s)\n", c.Op, strings.Join(args, ", "))
	}
	for _, line := range e.Logs {
		fmt.Fprintf(b, "log      %s\n", line)
	}
	for _, result := range []struct{ name, text string }{{"output", e.Output}, {"context", e.Context}, {"fault", string(e.Code)}} {
		if result.text != "" {
			fmt.Fprintf(b, "%-8s %s\n", result.name, result.text)
		}
	}
}
