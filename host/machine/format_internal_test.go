package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/machine/machinetest"

	"pgregory.net/rapid"
)

// tokens returns the tokens of code. If two codes differ only in white space, their tokens are
// equal.
func tokens(s Script, interpolate bool) string {
	scan := &scanner{src: s.Text, interpolate: interpolate}
	var all []string
	for scan.space(); ; scan.space() {
		t := scan.next()
		if t.kind == endToken {
			return fmt.Sprintf("%q", all)
		}
		all = append(all, s.Text[t.start:t.end])
	}
}

// meaning returns the content of a document as text, without positions.
func meaning(d *Document) string {
	var b strings.Builder
	fields := func(what string, fields []Field) {
		for _, f := range fields {
			fmt.Fprintf(&b, "%s %q %s %s %t %t %s\n", what, f.Value, f.Type, f.Items, f.Required, f.Optional, f.Default)
		}
	}
	settings := func(what string, settings []Setting) {
		for _, c := range settings {
			fmt.Fprintf(&b, "%s %q %s\n", what, c.Value, tokens(c.Script, true))
		}
	}
	names := func(what string, names []Name) {
		for _, n := range names {
			fmt.Fprintf(&b, "%s %q\n", what, n.Value)
		}
	}
	fmt.Fprintf(&b, "machine %q %q\n", d.Name.Value, d.Description)
	fields("accepts", d.Accepts)
	fields("responds", d.Responds)
	names("allowed", d.Permissions.Allowed)
	names("denied", d.Permissions.Denied)
	names("approval", d.Permissions.Approval)
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "step %s %q %q %s\n", s.Kind, s.Name.Value, s.Model.Value, tokens(s.Body, false))
		settings("setting", s.Settings)
		fields("returns", s.Returns)
		settings("assuming", s.Assuming)
	}
	for _, t := range d.Tests {
		fmt.Fprintf(&b, "test %q %s %s\n", t.Name, tokens(t.Given, true), tokens(t.Expect, true))
		settings("assuming", t.Assuming)
	}
	return b.String()
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkFormat formats a file. The formatted file must have the same meaning and the same comments.
// If the formatted file is formatted again, it must not change.
func checkFormat(t failer, source string) {
	t.Helper()
	d, problems := Parse("m", []byte(source))
	for _, p := range problems {
		if p.Line < 0 || p.Column < 0 || p.Line > strings.Count(source, "\n")+1 || p.Message == "" {
			t.Fatalf("the problem %+v of %q is not in the file", p, source)
		}
	}
	_, _, _ = d.InputSchema(), d.Collections(), d.Models()
	once, err := Format("m", []byte(source))
	if err != nil {
		return
	}
	twice, err := Format("m", once)
	if err != nil || string(twice) != string(once) {
		t.Fatalf("formatting %q\nis not stable: %q\nthen %q, %v", source, once, twice, err)
	}
	after, _ := Parse("m", once)
	if meaning(d) != meaning(after) {
		t.Fatalf("formatting %q\nas %q\nchanges its meaning from\n%s\nto\n%s", source, once, meaning(d), meaning(after))
	}
	if a, b := strings.Count(source, "//"), strings.Count(string(once), "//"); a != b {
		t.Fatalf("formatting %q\nas %q\nchanges the comments", source, once)
	}
}

func TestFormatSamples(t *testing.T) {
	for _, text := range machinetest.Samples(t) {
		checkFormat(t, text)
		once, err := Format("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(once)) {
			text = strings.Replace(text, strings.TrimSpace(line), "", 1)
		}
		if strings.TrimSpace(text) != "" {
			t.Errorf("formatting changes the lines %q", text)
		}
	}
}

func TestFormat(t *testing.T) {
	const source = `// a machine
machine   m   // its name
	description "Greets."


accepts
 who  as   text,is required   // whom
ensures
permissions
allowed to llm_call
// the steps
implements
compute text
let s = ` + "`a  \n  ${input.who\n}\n`" + ` // a template
/* about
   the result */
{
text: [s]
.map((x) => {
return x
}),
// more
n: 1 }
ask   x,using:"m"
with    task   "a
${input.who} ${text.text[0]}"
`
	const want = `// a machine
machine m  // its name
  description "Greets."

  accepts
    who as text, is required  // whom
  ensures
    permissions
      allowed to llm_call
  // the steps
  implements
    compute text
      let s = ` + "`a  \n  ${input.who\n      }\n`" + ` // a template
      /* about
   the result */
      {
        text: [s]
          .map((x) => {
            return x
          }),
        // more
        n: 1 }
    ask x, using:"m"
      with task "a ${input.who} ${text.text[0]}"
`
	fixed := strings.ReplaceAll(source, "\"a\n$", "\"a $") // strings must end on the same line
	got, err := Format("m", []byte(fixed))
	if err != nil || string(got) != want {
		t.Errorf("Format =\n%s%v\nwant\n%s", got, err, want)
	}
	checkFormat(t, fixed)
	if got, err := Format("m", []byte(source)); err == nil {
		t.Errorf("Format of a file with an open string = %q; want an error", got)
	}
}

func FuzzFormat(f *testing.F) {
	for _, text := range machinetest.FindSamples(f) {
		f.Add(text)
	}
	for _, text := range []string{
		"machine m\nimplements\ncompute x\nlet a = `\n  ${ {b: `c\n`} }` /* d\n */\n{a}\nverifies\ntest \"t\"\ngiven {a: \"${1}\"}\nexpect {a: /[/]}\"/.test('')}\n",
		"machine m\nensures\nnot allowed to a,\nb\nrequires approval for c // d\nimplements\nforget x\nfilter: {a: [1,\n2]}\n  .b\n? c : d // e\ncollection: 'f'\n",
		"description \"a // b\" // c\naccepts\na as list of text, default \"//\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, source string) { checkFormat(t, source) })
}

// TestFormatGenerated formats random machines. The machines contain random white space and
// comments.
func TestFormatGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(items ...string) string { return rapid.SampledFrom(items).Draw(t, "line") }
		lines := []string{"machine m", "accepts", pick("a as text", "a as list of text, is required", "a as number, default 1"), "ensures", "permissions", "allowed to", "llm_call, memory", "implements"}
		for i := range rapid.IntRange(1, 5).Draw(t, "steps") {
			name := fmt.Sprintf("s%d", i)
			switch pick("recall", "remember", "ask", "compute") {
			case "recall":
				lines = append(lines, "recall "+name, "query: input.a", "collection: \"kb\"", pick("limit: 5", "filter: {a: 1,", "filter: {"), "")
				if strings.HasSuffix(lines[len(lines)-2], ",") || strings.HasSuffix(lines[len(lines)-2], "{") {
					lines[len(lines)-1] = "b: [2, /* c */ 3]}"
				}
			case "remember":
				lines = append(lines, "remember "+name, "content: \"User: ${input.a}\" +", "\"x\"", "collection: \"kb\"", "metadata: {", "at: now()", "}")
			case "ask":
				lines = append(lines, "ask "+name+", using: \"m\"", "with role \"r\"", "with task `t ${input.a}`", "returns", "b as text", "assuming", "b: \"c\"")
			default:
				lines = append(lines, "compute "+name, pick("let x = `", "let x = `y  "), pick("  z", "recall x", "{", "//"), "`", pick("{y: x}", "x", "return {x}"))
			}
		}
		var b strings.Builder
		template := false
		for _, line := range lines {
			if !template {
				b.WriteString(pick("", "", "\n", "// comment\n", "\n\n") + strings.Repeat(" ", 0))
			}
			b.WriteString(line)
			if strings.Count(line, "`")%2 == 1 {
				template = !template
			}
			if !template {
				b.WriteString(pick("", "  ", "\t"))
			}
			b.WriteString("\n")
		}
		source := b.String()
		if _, err := Format("m", []byte(source)); err != nil {
			t.Fatalf("Format of %q = %v", source, err)
		}
		checkFormat(t, source)
	})
}
