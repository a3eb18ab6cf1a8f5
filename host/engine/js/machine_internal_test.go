package js

import (
	"context"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/machine/machinetest"
)

const anyMachine = "machine m\naccepts\na as object\nensures\npermissions\nallowed to\nllm_call, memory\nimplements\n"

func TestMachineSamples(t *testing.T) {
	inputs := "machine m\naccepts\ndocument as text\nurl as text\ncategory as text\nquestion as text\nensures\nallowed to memory\nimplements\n"
	samples := machinetest.Samples(t)
	for _, source := range []string{samples[4], samples[5], inputs + samples[1], inputs + samples[3], inputs + samples[6]} {
		doc, problems := machine.Parse("m.machine", []byte(source))
		if problems.Err() != nil {
			t.Fatal(problems)
		}
		if err := CheckMachine(doc).Err(); err != nil {
			t.Errorf("CheckMachine(%s) = %v; want no errors", source, err)
		}
	}
}

func TestMachineProblems(t *testing.T) {
	for _, tt := range []struct{ name, steps, want string }{
		{"input", "compute x\n{a: input.b}", `m:10:5: the machine does not accept the input "b"`},
		{"step", "compute x\n{a: input.a, b: steps.y.z}", `m:10:17: the machine has no step "y"` + "\n  hint: the steps are: x"},
		{"own step", "compute x\n{a: input.a, b: steps.x}", `m:10:17: the result of the step "x" does not exist yet, because that step runs later` + "\n  hint: move the step up"},
		{"later step", "compute x\n{a: input.a, b: y.z}\ncompute y\n{z: x}", `m:10:17: the result of the step "y" does not exist yet, because that step runs later` + "\n  hint: move the step up"},
		{"field", "recall x\nquery: input.a\ncollection: \"c\"\ncompute y\n{a: x.result[0]}", `m:13:7: the result of the step "x" has no field "result"` + "\n  hint: did you mean results?"},
		{"quoted step", "compute x\n{a: input.a, b: steps[\"y\"]}", `m:10:17: the machine has no step "y"` + "\n  hint: the steps are: x"},
		{"name", "compute x\n{a: input.a, b: inpt.a}", `m:10:17: the name "inpt" is not defined` + "\n  hint: did you mean input?"},
		{"input without a dot", "compute x\n{a: a}", `m:10:5: the name "a" is not defined` + "\n  hint: write input.a"},
		{"operation", "compute x\n{a: input.a, b: model.chat()}", "m:10:17: the code of a machine cannot use model\n  hint: use a step ask"},
		{"global", "compute Math\n{a: input.a}", `m:9:9: the name "Math" is reserved, because JavaScript uses the name` + "\n  hint: choose another name"},
		{"template", "ask x, using: \"m\"\nwith task \"`` ${input.b}\"", `m:10:17: the machine does not accept the input "b"`},
		{"input of a test", "compute x\n{a: input.a}\nverifies\ntest \"t\"\ngiven {\na: 1, b: 2}\nexpect {}", `m:14:7: the machine does not accept the input "b"` + "\n  hint: the names are: a"},
		{"result in a test", "recall x\nquery: input.a\ncollection: \"c\"\nverifies\ntest \"t\"\nassuming x {\"result\": []}\nexpect {}", `m:14:13: the result of the step "x" has no field "result"` + "\n  hint: did you mean results?"},
		{"text without quotes", "recall x\nquery: input.a\ncollection: kb", `m:11:13: the name "kb" is not defined` + "\n  hint: to write a text, use quotes: \"kb\""},
		{"await", "compute x\n{a: await input.a}", "m:10:11: "},
		{"unused step", "compute x\n{a: input.a}\ncompute y\n1", `m:9:9: warning: no later step uses the result of the step "x"` + "\n  hint: remove the step, or use steps.x"},
		{"unused input", "compute x\n1", `m:3:1: warning: no step uses the input "a"` + "\n  hint: remove the input, or use input.a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, problems := machine.Parse("m", []byte(anyMachine+tt.steps))
			if problems.Err() != nil {
				t.Fatal(problems)
			}
			problems = CheckMachine(doc)
			if len(problems) == 0 || !strings.HasPrefix(problems[0].String(), tt.want) {
				t.Errorf("CheckMachine = %v; want first %s", problems, tt.want)
			}
		})
	}
}

// TestMachineResult checks the comparison of a machine's result with the section "responds with".
func TestMachineResult(t *testing.T) {
	for result, want := range map[string]string{
		"{a: 1, b: []}":      "",
		"{a: 1, b: [], c:1}": "",
		"{...input, a: 1}":   "",
		"{b: []}":            `the result of the last step, "x", has no field "a"`,
		"{a: '', b: []}":     `the field "a" of the result is of the type text; want number`,
		"{a: 1, b: {}}":      `the field "b" of the result is of the type object; want list`,
	} {
		doc, _ := machine.Parse("m", []byte("machine m\nresponds with\na as number\nb as list\nimplements\ncompute x\n"+result))
		problems := CheckMachine(doc)
		if got := problems.Error(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("CheckMachine of %s = %q; want %q", result, got, want)
		}
	}
}

// FuzzMachine checks machines that have no errors. Loading them must succeed.
func FuzzMachine(f *testing.F) {
	for _, sample := range machinetest.FindSamples(f) {
		f.Add(sample)
	}
	for _, steps := range []string{
		"compute x\nlet a = 1 // b\n{a}", "compute x\nif (input.a) return 1\nreturn [/[}]/, `${{}}`]", "compute x\nlet y = 1;{y};\n// z",
		"ask x, using: \"m\"\nwith role \"a`${[\"b\"]}\\\"\"\nwith task x\nassuming\ntext: \"${1}\"", "recall x\nquery: 1\n? 2\n: 3 // c\ncollection: /* d\n */ 'e'",
		"compute x\nclass y {}\n(function () {})", "compute x\n\"${\"\nverifies\ntest \"a\"\ngiven {b: \"${1}\"}\nexpect {}",
	} {
		f.Add(anyMachine + steps)
	}
	f.Fuzz(func(t *testing.T, source string) {
		doc, problems := machine.Parse("m.machine", []byte(source))
		if problems.Err() != nil || CheckMachine(doc).Err() != nil {
			return
		}
		p, err := New().Load(context.Background(), engine.Source{Path: "m.machine", Code: []byte(source)})
		if fault, ok := err.(*abi.Fault); ok && fault.Code == abi.SourceInvalid && fault.Line > 0 {
			return // the bundler detects more errors than the parser
		}
		if err != nil {
			t.Fatalf("Load of %q = %v", source, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMachineTest runs a test of a machine. The section "verifies" is either before or after the
// steps.
func TestMachineTest(t *testing.T) {
	const steps = "implements\ncompute x\n{y: input.a + 1,\nb: input.b}\ncompute z\n{c: x.y, d: input.a}\n"
	const verifies = "verifies\ntest \"t\"\nexpect {\nc: 5\n}\nassuming x {\ny: `4\n`.length + 3\n}\ngiven {a: 2}\n"
	for _, source := range []string{steps + verifies, verifies + steps} {
		source = "machine m\naccepts\na as number\nb as text, default \"c\"\n" + source
		p, err := New().Load(context.Background(), engine.Source{Path: "m.machine", Code: []byte(source), Entry: machine.TestEntry(0)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(context.Background(), engine.Input{Input: []byte(`{"a":100}`), Context: []byte(`{}`)}, engine.Host{})
		if want := `{"input":{"b":"c","a":2},"output":{"c":5,"d":2},"expect":{"c":5}}`; err != nil || string(out.Output) != want {
			t.Errorf("Run = %s, %v; want %s", out.Output, err, want)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := New().Load(context.Background(), engine.Source{Path: "m.machine", Code: []byte("machine m\n" + steps), Entry: machine.TestEntry(1)})
	if fault, ok := err.(*abi.Fault); !ok || fault.Code != abi.SourceInvalid {
		t.Errorf("Load of an unknown test = %v; want source_invalid", err)
	}
}
