package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/machine/machinetest"
	"github.com/toolrun/toolrun/host/problem"
)

// sample returns a code block from the vendor's documentation. The name of a code block begins with
// the number of the block.
func sample(t testing.TB, name string) string {
	t.Helper()
	return machinetest.Samples(t)[name[0]-'1']
}

// outline returns the steps of a document as text. Each line contains one step with its settings.
func outline(d *machine.Document) string {
	var b strings.Builder
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "%s %s:", s.Kind, s.Name.Value)
		for _, setting := range s.Settings {
			b.WriteString(" " + setting.Value)
		}
		for _, f := range s.Returns {
			fmt.Fprintf(&b, " returns %s as %s", f.Value, f.Type)
		}
		for _, a := range s.Assuming {
			fmt.Fprintf(&b, " assuming %s %s", a.Value, a.Script.Text)
		}
		if s.Body.Text != "" {
			fmt.Fprintf(&b, " %d lines", strings.Count(s.Body.Text, "\n")+1)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSamples(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"1_remember_grammar", "remember <name>: content collection metadata namespace ttl\n"},
		{"2_remember", "remember store_document: content collection metadata\n"},
		{"3_recall_grammar", "recall <name>: query collection limit threshold filter\n"},
		{"4_recall", "recall find_relevant: query collection limit threshold\n"},
		{"5_question_answerer", "recall find_docs: query collection limit threshold\ncompute build_context: 5 lines\n" +
			"ask answer: role task returns answer as text assuming answer \"Based on the provided context...\"\ncompute format: 4 lines\n"},
		{"6_conversation_agent", "recall get_history: query collection namespace limit\n" +
			"ask respond: role task returns reply as text assuming reply \"I can help with that.\"\nremember save_turn: content collection namespace ttl\n"},
		{"7_filtered_recall", "recall find_complaints: query collection filter limit threshold\n"},
	} {
		d, problems := machine.Parse(tt.name, []byte(sample(t, tt.name)))
		if got := outline(d); got != tt.want {
			t.Errorf("the steps of %s are\n%swant\n%s", tt.name, got, tt.want)
		}
		for _, p := range problems {
			switch p.Code {
			case problem.Placeholder, problem.MissingKey, problem.Permission: // some blocks are parts of machines
			default:
				t.Errorf("unexpected problem: %v", p)
			}
		}
		if complete := strings.HasPrefix(sample(t, tt.name), "machine "); complete && len(problems) > 0 {
			t.Errorf("the problems of %s are %v; want none", tt.name, problems)
		}
	}
}

// A grammar contains placeholders. TestGrammars checks that a problem is reported at the position
// of each placeholder.
func TestGrammars(t *testing.T) {
	for name, want := range map[string][]string{
		"1_remember_grammar": {"1:10 <name>", "2:10 <expression>", "3:13 <collection_name>", "4:11 <key>", "5:12 <namespace>", "6:6 <duration>"},
		"3_recall_grammar":   {"1:8 <name>", "2:8 <expression>", "3:13 <collection_name>", "4:8 <number>", "5:12 <number>", "6:9 <key>"},
	} {
		_, problems := machine.Parse(name, []byte(sample(t, name)))
		var got []string
		for _, p := range problems {
			if p.Code == problem.Placeholder {
				placeholder, _, _ := strings.Cut(strings.TrimPrefix(p.Message, "the text "), " ")
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, placeholder))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the placeholders of %s are %q; want %q", name, got, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	d, _ := machine.Parse("m", []byte(sample(t, "5_question_answerer")))
	for _, tt := range []struct{ name, got, want string }{
		{"input", string(d.InputSchema()), `{"type":"object","properties":{"question":{"type":"string"}},"required":["question"],"additionalProperties":false}`},
		{"output", string(d.OutputSchema()), `{"type":"object","properties":{"answer":{"type":"string"},"sources":{"type":"array"}},"required":["answer","sources"]}`},
		{"answer", string(d.Steps[2].AnswerSchema()), `{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`},
		{"models", fmt.Sprint(d.Models()), "[anthropic:claude-sonnet-4-6]"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %s; want %s", tt.name, tt.got, tt.want)
		}
	}
	d, problems := machine.Parse("m", []byte("machine m\naccepts\n  a as integer, default 3\n  b as list of text, is required\n  c as any\nresponds with\n  d as number, is optional\nimplements\n  compute x\n    {d: input.a}\n"))
	if want := `{"type":"object","properties":{"a":{"type":"integer","default":3},"b":{"type":"array","items":{"type":"string"}},"c":{}},"required":["b"],"additionalProperties":false}`; string(d.InputSchema()) != want || problems.Err() != nil {
		t.Errorf("InputSchema = %s, %v; want %s", d.InputSchema(), problems, want)
	}
	if want := `{"type":"object","properties":{"d":{"type":"number"}}}`; string(d.OutputSchema()) != want {
		t.Errorf("OutputSchema = %s; want %s", d.OutputSchema(), want)
	}
}

func TestCollections(t *testing.T) {
	const steps = "implements\n  recall a\n    query: \"x\"\n    collection: \"kb\"\n  forget b\n    collection: \"kb\"\n    id: \"1\"\n" +
		"  remember c\n    content: \"x\"\n    collection: \"notes\"\n  recall d\n    query: \"x\"\n    collection: input.name\n  remember e\n    content: 1\n    collection: \"kb\"\n"
	d, _ := machine.Parse("m", []byte("machine m\nensures\n  permissions\n    allowed to memory\n"+steps))
	got := d.Collections()
	if len(got) != 2 || got[0].Value != "kb" || !slices.Equal(got[0].Verbs, []abi.Verb{abi.Read, abi.Write, abi.Delete}) ||
		got[0].Line != 8 || got[1].Value != "notes" || !slices.Equal(got[1].Verbs, []abi.Verb{abi.Write}) {
		t.Errorf("Collections = %+v; want kb with all verbs, and notes with write", got)
	}
	for _, ensures := range []string{"", "ensures\n  permissions\n    allowed to memory\n    not allowed to\n      memory\n"} {
		if d, _ := machine.Parse("m", []byte("machine m\n"+ensures+steps)); d.Collections() != nil {
			t.Errorf("Collections with %q = %v; want none", ensures, d.Collections())
		}
	}
}

func TestApprovals(t *testing.T) {
	const steps = "implements\n  recall a\n    query: \"x\"\n    collection: \"kb\"\n  ask b, using: \"m\"\n    with task \"t\"\n  remember c\n    content: \"x\"\n    collection: \"kb\"\n"
	for names, want := range map[string]string{"": "[]", "remember": "[remember]", "memory": "[recall remember]", "llm_call, forget": "[model.chat]", "ask, memory, recall": "[recall model.chat remember]"} {
		d, problems := machine.Parse("m", []byte("machine m\nensures\n  permissions\n    allowed to memory, llm_call\n    requires approval for "+names+"\n"+steps))
		if got := fmt.Sprint(d.Approvals()); got != want || problems.Err() != nil {
			t.Errorf("Approvals with %q = %s, %v; want %s", names, got, problems, want)
		}
	}
}

// A line in the code of a step can look like the header of another step. If such a line is indented
// more deeply than the header of its step, the line belongs to the code. TestIndentation tests such
// lines.
func TestIndentation(t *testing.T) {
	const source = "machine m\nimplements\n  compute a\n    let x = `\n  recall b\n`\n    {y: x}\n  compute b\n    let verifies = 1\n    verifies\n"
	d, problems := machine.Parse("m", []byte(source))
	if len(d.Steps) != 2 || !strings.HasSuffix(d.Steps[1].Body.Text, "verifies") || problems.Err() != nil {
		t.Errorf("the steps are\n%s%v; want two steps compute", outline(d), problems)
	}
	d, _ = machine.Parse("m", []byte(strings.ReplaceAll(strings.ReplaceAll(source, "\n    ", "\n"), "\n  ", "\n")))
	if len(d.Steps) != 2 || strings.HasSuffix(d.Steps[1].Body.Text, "verifies") {
		t.Errorf("without indentation, the steps are\n%s; want the section verifies after them", outline(d))
	}
}

func TestTests(t *testing.T) {
	d, problems := machine.Parse("m", []byte(`machine m
accepts
a as text
implements
compute x
{y: input.a}
verifies
test "one"
given {a: "1"}
assuming x {
y: "2"
}
expect { y: "2" }
test "two"
expect {y: 3}
`))
	if len(problems) > 0 || len(d.Tests) != 2 {
		t.Fatalf("the tests are %+v, %v; want two", d.Tests, problems)
	}
	one := d.Tests[0]
	if one.Name != "one" || one.Given.Text != `{a: "1"}` || one.Expect.Text != `{ y: "2" }` || len(one.Assuming) != 1 || one.Assuming[0].Value != "x" || one.Assuming[0].Script.Text != "{\ny: \"2\"\n}" {
		t.Errorf("the first test is %+v", one)
	}
}
