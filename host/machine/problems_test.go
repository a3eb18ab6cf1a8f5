package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

func TestProblems(t *testing.T) {
	const allowed = "machine m\nensures\npermissions\nallowed to\nllm_call, memory\nimplements\n" // 6 lines
	for _, tt := range []struct{ name, source, want string }{
		{"empty", "\n// nothing\n", "m: the file is empty\n  hint: begin with `machine NAME`"},
		{"not a machine", "app: shop\ntools:\n  pay: {source: pay.js}\n", "m:1:1: the file does not begin with the name of the machine\n  hint: begin with `machine NAME`"},
		{"no name", "accepts\n", "m:1:1: the file does not begin with the name of the machine\n  hint: begin with `machine NAME`"},
		{"bad name", "machine 1a\nimplements\ncompute x\n{}", `m:1:9: the text "1a" is not a valid name of a machine` + "\n  hint: use up to 64 letters, digits and `_`, and do not begin with a digit"},
		{"no steps", "machine m\n", "m:1:9: the machine has no steps\n  hint: write `implements`, and write the steps on the lines below"},
		{"not UTF-8", "machine m\xff\n", "m: the file is not text in UTF-8\n  hint: save the file as UTF-8"},
		{"section", "machine m\nresponds wiht\nimplements\ncompute x\n{}", `m:2:1: the line "responds wiht" is not the name of a section` + "\n  hint: did you mean responds with?"},
		{"section below fields", "machine m\naccepts\na as text\nimplement\ncompute x\n{}", `m:4:1: the line "implement" is not the name of a section` + "\n  hint: did you mean implements?"},
		{"two sections", "machine m\naccepts\naccepts\nimplements\ncompute x\n{}", "m:3:1: the machine has two sections accepts\n  hint: merge the sections"},
		{"field", "machine m\naccepts\na text\nimplements\ncompute x\n{}", `m:3:1: the line "a text" is not a field` + "\n  hint: write `NAME as TYPE`"},
		{"type", "machine m\naccepts\na as string\nimplements\ncompute x\n{}", `m:3:6: the text "string" is not a type` + "\n  hint: write text"},
		{"option", "machine m\naccepts\na as text, required\nimplements\ncompute x\n{}", `m:3:6: the text "required" is not an option of a field` + "\n  hint: use `is required`, `is optional` or `default VALUE`"},
		{"default", "machine m\naccepts\na as text, default x\nimplements\ncompute x\n{}", `m:3:6: the default of "a" is not valid JSON` + "\n  hint: write a JSON value, such as: default \"en\""},
		{"field twice", "machine m\naccepts\na as text\na as text\nimplements\ncompute x\n{}", `m:4:1: the field "a" is declared twice`},
		{"kind", allowed + "remembr x\ncontent: 1\ncollection: \"c\"", `m:7:1: the text "remembr" is not a kind of step` + "\n  hint: did you mean remember?"},
		{"step twice", allowed + "compute x\n{}\ncompute x\n{}", `m:9:9: the step "x" is already declared on line 7` + "\n  hint: choose another name"},
		{"reserved", allowed + "compute steps\n{}", `m:7:9: the name "steps" is reserved` + "\n  hint: choose another name"},
		{"no code", allowed + "compute x\ncompute y\n{}", `m:7:1: the step "x" has no code` + "\n  hint: add code that ends with an object `{...}`"},
		{"setting", allowed + "recall x\nquery: \"a\"\ncollection: \"c\"\nlimt: 5", `m:10:1: the step recall has no setting "limt"` + "\n  hint: did you mean limit?"},
		{"setting twice", allowed + "recall x\nquery: \"a\"\nquery: \"b\"\ncollection: \"c\"", `m:9:1: the step "x" has two settings query`},
		{"no value", allowed + "recall x\nquery:\ncollection: \"c\"", `m:8:1: the key query has no value` + "\n  hint: write the value after the key"},
		{"required", allowed + "recall x\nquery: \"a\"", `m:7:1: the step "x" does not have the required setting ` + "`collection`\n  hint: add: collection: VALUE"},
		{"limit", allowed + "recall x\nquery: \"a\"\ncollection: \"c\"\nlimit: 10000", `m:10:8: the limit of the step "x" is not an integer from 1 to 1000`},
		{"threshold", allowed + "recall x\nquery: \"a\"\ncollection: \"c\"\nthreshold: 2", `m:10:12: the threshold of the step "x" is not a number from 0 to 1`},
		{"ttl", allowed + "remember x\ncontent: \"a\"\ncollection: \"c\"\nttl: \"1w\"", `m:10:6: the ttl of the step "x" is not a valid duration: "1w"` + "\n  hint: write a number with one unit, such as \"30d\", \"24h\", \"30m\" or \"10s\""},
		{"selector", allowed + "forget x\ncollection: \"c\"", `m:7:1: the step "x" does not select any entries` + "\n  hint: add `id`, `filter` or `namespace`"},
		{"model", allowed + "ask x\nwith task \"t\"", `m:7:1: the step "x" does not name a model` + "\n  hint: write: ask x, using: \"MODEL\""},
		{"task", allowed + "ask x, using: \"m\"\nwith role \"t\"", `m:7:1: the step "x" does not have the required setting ` + "`task`\n  hint: add: with task \"TEXT\""},
		{"assumed", allowed + "ask x, using: \"m\"\nwith task \"t\"\nreturns\nreply as text\nassuming\nreplay: 1", `m:12:1: the step "x" does not return the field "replay"` + "\n  hint: did you mean reply?"},
		{"permission", "machine m\nimplements\nrecall x\nquery: \"a\"\ncollection: \"c\"", `m:3:1: the step "x" requires the permission memory` + "\n  hint: write `allowed to memory` under `permissions` in the section `ensures`"},
		{"denied", "machine m\nensures\nallowed to memory\nnot allowed to memory\nimplements\nrecall x\nquery: \"a\"\ncollection: \"c\"", `m:6:1: the step "x" requires the permission memory` + "\n  hint: remove the permission from: not allowed to"},
		{"unknown permission", "machine m\nensures\nallowed to memry\nimplements\ncompute x\n{}", `m:3:12: warning: the permission "memry" is unknown and has no effect` + "\n  hint: did you mean memory?"},
		{"unused permission", "machine m\nensures\nallowed to memory\nimplements\ncompute x\n{}", "m:3:12: warning: no step uses the permission memory\n  hint: remove it"},
		{"approval", "machine m\nensures\nrequires approval for y\nimplements\ncompute x\n{}", `m:3:23: the text "y" is neither a permission nor a kind of step with effects` + "\n  hint: use a permission or a kind of step: llm_call, memory, remember, recall, forget, ask"},
		{"responds", "machine m\nresponds with\na as text\nensures\nallowed to memory\nimplements\nrecall x\nquery: \"a\"\ncollection: \"c\"", `m:3:1: the last step "x" does not return the field "a"` + "\n  hint: end the machine with a step `compute` that returns the field"},
		{"type of an answer", "machine m\nresponds with\na as text\nensures\nallowed to llm_call\nimplements\nask x, using: \"m\"\nwith task \"a\"\nreturns\na as list", `m:3:1: the field "a" has the type text here, but the type list in the last step "x"`},
		{"bracket", allowed + "compute x\n{a: [1}\n", "m:8:7: the bracket } has no counterpart\n  hint: remove the bracket, or write the opening bracket"},
		{"open bracket", allowed + "compute x\n{a: [1]\ncompute y\n{}\n", "m:8:1: the bracket { is not closed\n  hint: close the bracket with }"},
		{"open text", allowed + "recall x\nquery: \"a\ncollection: \"c\"", "m:8:8: the string is not closed\n  hint: close the string with \" on the same line"},
		{"open substitution", allowed + "recall x\nquery: \"a${b\"\ncollection: \"c\"", "m:8:13: the string is not closed\n  hint: close the string with \" on the same line"},
		{"deep", allowed + "compute x\n" + strings.Repeat("[", 300), "m:8:201: the brackets are nested too deeply"},
		{"no test", "machine m\nimplements\ncompute x\n{}\nverifies\ngiven {}\n", `m:6:1: the line "given {}" does not begin a test` + "\n  hint: write: test \"what is tested\""},
		{"test without expectations", "machine m\nimplements\ncompute x\n{}\nverifies\ntest \"a\"\ngiven {}\n", `m:6:1: the test "a" has no expectation` + "\n  hint: add: expect {...}"},
		{"test of an unknown step", "machine m\nimplements\ncompute x\n{}\nverifies\ntest \"a\"\nassuming y {}\nexpect {}\n", `m:7:10: the machine has no step "y"` + "\n  hint: the steps are: x"},
		{"end", allowed + "recall x\nquery: \"a\"\ncollection: \"c\"\nend", `m:10:1: the text "end" is not a keyword` + "\n  hint: remove the line; a step or a section ends where the next step or section begins"},
		{"end of code", "machine m\nimplements\n  compute x\n    {}\n  end // x\n  compute y\n    {}", `m:5:3: the text "end" is not a keyword` + "\n  hint: remove the line; a step or a section ends where the next step or section begins"},
		{"no comma", allowed + "ask x using \"m\"\nwith task \"t\"\ncompute y\n1", `m:7:1: the line "ask x using \"m\"" does not begin a step` + "\n  hint: write: ask NAME, using: \"MODEL\""},
		{"model without quotes", allowed + "ask x, using: m\nwith task \"t\"", `m:7:8: the text "using: m" is not an option of the step` + "\n  hint: write using: \"m\""},
		{"no colon", allowed + "recall x\nquery input.a\ncollection: \"c\"", `m:7:1: the step "x" does not have the required setting ` + "`query`\n  hint: add: query: VALUE"},
		{"no with", allowed + "ask x, using: \"m\"\nrole: \"r\"\nwith task \"t\"", `m:8:1: the step ask has no setting "role"` + "\n  hint: a step `ask` consists of the parts `with role`, `with task`, `returns` and `assuming`"},
		{"returned field", allowed + "ask x, using: \"m\"\nwith task \"t\"\nreturns text", `m:9:1: the text "returns" is not a kind of step` + "\n  hint: write `returns`, and write `NAME as TYPE` on the lines below"},
		{"empty query", allowed + "recall x\nquery: \"\"\ncollection: \"c\"", `m:8:8: the query of the step "x" is empty` + "\n  hint: write a text that is not empty"},
		{"part of a test", "machine m\nimplements\ncompute x\n{}\nverifies\ntest \"a\"\ngiven {}\nexpects {}\nexpect {}", `m:8:1: the line "expects {}" is not a part of a test` + "\n  hint: did you mean expect?"},
		{"name of a test", "machine m\nimplements\ncompute x\n{}\nverifies\ntest \"a\"\nexpect {}\ntest b\nexpect {}", `m:8:1: the line "test b" is not a part of a test` + "\n  hint: to begin a test, write: test \"what is tested\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := machine.Parse("m", []byte(tt.source))
			first := problems
			if errs, ok := problems.Err().(problem.List); ok {
				first = errs
			}
			if len(first) == 0 || first[0].String() != tt.want {
				t.Errorf("the problems are\n%v\nwant first\n%s", problems, tt.want)
			}
		})
	}
	if _, problems := machine.Parse("m", []byte("machine m\naccepts\na as text\nimplement\ncompute x\n{}")); len(problems) != 1 {
		t.Errorf("the problems of a misspelled section are\n%v\nwant one", problems)
	}
	_, problems := machine.Parse("m", []byte("machine m\nimplements\n"+strings.Repeat("compute x\n{}\n", 600)))
	if len(problems) > 100 {
		t.Errorf("there are %d problems; want at most 100", len(problems))
	}
	if _, problems := machine.Parse("m", []byte("machine m\n"+strings.Repeat("//\n", 1<<19))); fmt.Sprint(problems) == "[]" || problems[0].Code != problem.OverLimit {
		t.Errorf("the problems of a large file are %v; want over_limit", problems)
	}
}

// TestLargeFiles checks that reading and formatting large files takes linear time. If the time were
// quadratic, the test would exceed the package's time limit.
func TestLargeFiles(t *testing.T) {
	const size = machine.MaxFileBytes / 8
	for _, part := range []string{
		"compute x\n{}\n", "assuming\na: 1\n", "a as b\n", "a,", "requires approval for a\n", "`${", "/**/", "\n", "(", ")", "\"", "/", "a:\n", "test \"a\"\nassuming x {}\n", "{a: `\n`}\n",
	} {
		for _, head := range []string{"", "machine m\nimplements\nask x, using: \"m\"\n", "machine m\nensures\nrequires approval for\n", "machine m\nimplements\ncompute x\n", "machine m\nverifies\ntest \"x\"\n"} {
			source := []byte(head + strings.Repeat(part, size/len(part)))
			doc, _ := machine.Parse("m", source)
			for _, s := range doc.Steps {
				_, _ = s.Body.Value()
				_, _ = s.Body.JavaScript()
			}
			if _, err := machine.Format("m", source); err != nil {
				continue
			}
		}
	}
}
