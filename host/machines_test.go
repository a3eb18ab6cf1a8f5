package host_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
)

const summarizer = `machine summarizer
  description "Summarizes a text."
  accepts
    document as text, is required
    words as integer, default 20
  responds with
    summary as text
    length as number
  ensures
    permissions
      allowed to
        llm_call
  implements
    compute clean
      let trimmed = input.document.trim()
      {text: trimmed, empty: trimmed === ""}
    ask answer, using: "local"
      with role "You summarize texts."
      with task "Summarize in ${input.words} words: ${clean.text}"
      returns
        summary as text
    compute format
      {
        summary: steps.answer.summary,
        length: answer.summary.length
      }
`

// openMachine opens a host with a machine as its only tool. The model "local" returns the argument
// "answer".
func openMachine(t *testing.T, source, answer string, change ...func(*host.Options)) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	if answer != "" {
		server.Script(modeltest.Reply{Text: answer})
	}
	files := fstest.MapFS{
		"app.yaml":     {Data: []byte("app: test\ntools:\n  tool: {source: tool.machine, description: a machine}\n")},
		"tool.machine": {Data: []byte(source)},
	}
	with := func(o *host.Options) { o.Models = modelSet(t, server, "") }
	return openApp(t, files, append([]func(*host.Options){with}, change...)...), server
}

func TestMachine(t *testing.T) { everywhere(t, testMachine) }

func testMachine(t *testing.T) {
	h, server := openMachine(t, summarizer, `{"summary":"short"}`)
	result, err := run(h, host.Invocation{Input: json.RawMessage(`{"document":" a long text "}`)})
	if err != nil || string(result.Output) != `{"summary":"short","length":5}` {
		t.Fatalf("Run = %s, %v; want the summary and its length", result.Output, err)
	}
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, "Summarize in 20 words: a long text") || !strings.Contains(sent, `"additionalProperties":false`) {
		t.Errorf("the provider received %s; want the task, and the fields of the answer as schema", sent)
	}
	var fault *abi.Fault
	if _, err := run(h, host.Invocation{Input: json.RawMessage(`{}`)}); !errors.As(err, &fault) || fault.Code != abi.InputInvalid {
		t.Errorf("Run without an input = %v; want input_invalid", err)
	}
}

// TestMachineFaults checks that a fault contains its position in the file of the machine.
func TestMachineFaults(t *testing.T) {
	head := "machine m\naccepts\n  a as text\n  b as object\nensures\n  permissions\n    allowed to llm_call\nimplements\n"
	for _, tt := range []struct {
		name, steps, answer string
		code                abi.Code
		line, column        int
		message             string
	}{
		{"compute", "  compute x\n    let n = input.b\n    {y: n.z.w}\n", "", abi.ToolError, 11, 13, "Cannot read property 'w'"},
		{"compute with an expression", "  compute x\n    // a\n    let n = 1 // b\n    input.b.z.w + n\n", "", abi.ToolError, 12, 15, ""},
		{"compute with return", "  compute x\n    if (!input.a) throw new Error('no a')\n    return {y: 1}\n", "", abi.ToolError, 10, 25, "no a"},
		{"compute without a result", "  compute x\n    let n = input.a + input.b\n", "", abi.SourceInvalid, 9, 3, `the step "x" has no result`},
		{"expression", "  ask x, using: \"local\"\n    with task \"a${input.b.c.d}`\" + input.b.c.d\n", "", abi.ToolError, 10, 29, "Cannot read property 'd'"},
		{"after a backtick", "  ask x, using: \"local\"\n    with task \"`a${input.a}`\" + input.b.c.d\n", "", abi.ToolError, 10, 43, "Cannot read property 'd'"},
		{"answer of the wrong shape", "  ask x, using: \"local\"\n    with task input.a + input.b\n    returns\n      y as number\n", `{"y":"one"}`, abi.ToolError, 9, 3, "the model's answer to the step x is not valid: /y: must be"},
		{"syntax", "  compute x\n    let n = = input.a;\n    {y: input.b}\n", "", abi.SourceInvalid, 10, 13, "unexpected token ="},
		{"strict mode", "  compute x\n    let let = input.a;\n    {y: input.b}\n", "", abi.SourceInvalid, 10, 9, ""},
		{"permission", "  remember x\n    content: input.a + input.b\n    collection: \"kb\"\n", "", abi.SourceInvalid, 9, 3, "requires the permission memory"},
		{"unknown step", "  compute x\n    {y: input.a + input.b + steps.z.y}\n", "", abi.SourceInvalid, 10, 29, `the machine has no step "z"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, _ := openMachine(t, head+tt.steps, tt.answer)
			_, err := run(h, host.Invocation{Input: json.RawMessage(`{"a":"","b":{}}`)})
			var fault *abi.Fault
			if !errors.As(err, &fault) || fault.Code != tt.code || !strings.Contains(fault.Message, tt.message) {
				t.Fatalf("Run = %v; want %s: %s", err, tt.code, tt.message)
			}
			if fault.File != "tool.machine" || fault.Line != tt.line || fault.Column != tt.column {
				t.Errorf("the position of %v is %s:%d:%d; want %d:%d", err, fault.File, fault.Line, fault.Column, tt.line, tt.column)
			}
		})
	}
}

// TestMachineApproval checks that a machine pauses before a step that requires an approval.
func TestMachineApproval(t *testing.T) {
	source := strings.Replace(summarizer, "  implements\n", "      requires approval for\n        ask\n  implements\n", 1)
	h, server := openMachine(t, source, `{"summary":"short"}`)
	inv := host.Invocation{Caller: host.Caller{User: "ann"}, Input: json.RawMessage(`{"document":"text"}`)}
	result, err := h.Run(t.Context(), inv)
	if result.Status != report.Paused || result.Approval == nil || result.Approval.Effect.Operation != "model.chat" || len(server.Requests()) > 0 {
		t.Fatalf("Run = %s %+v, %v; want a paused run before the request", result.Status, result.Approval, err)
	}
	result, err = h.Approvals().Approve(t.Context(), host.Caller{}, result.Approval.Token)
	if err != nil || string(result.Output) != `{"summary":"short","length":5}` {
		t.Errorf("Approve = %s, %v; want the output", result.Output, err)
	}
}
