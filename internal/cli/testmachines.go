package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// testName returns the name of the tool that executes a test of a machine.
func testName(t app.Tool, index int) string { return t.Name + "." + machine.TestEntry(index) }

// runMachine runs the tests in the file of a machine. Each test in the file is executed as a tool
// that returns the input, the output and the expected output.
func (tr testRunner) runMachine(ctx context.Context, m toolTests) (results []testResult, err error) {
	var tools []app.Tool
	for i := range m.doc.Tests {
		t := m.tool
		t.Name, t.Entry, t.InputSchema, t.OutputSchema, t.Approval = testName(m.tool, i), machine.TestEntry(i), nil, nil, declare.Approval{}
		tools = append(tools, t)
	}
	h, closeAll, err := tr.open(ctx, tools...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	for i := range m.doc.Tests {
		results = append(results, tr.machineTest(ctx, h, m, i))
	}
	return results, nil
}

// machineTest runs one test in the file of a machine.
func (tr testRunner) machineTest(ctx context.Context, h *host.Host, m toolTests, index int) testResult {
	t := m.doc.Tests[index]
	result := newTestResult(m.tool, t.Name, tr.shown(m.doc.File), t.Line)
	began := time.Now()
	ran, err := h.Run(ctx, host.Invocation{
		Tool: testName(m.tool, index), Test: true, Caller: host.Caller{User: "test", Session: "test"},
	})
	result.took = time.Since(began)
	result.add(ran)
	if err != nil {
		f := faultOf(err)
		if f.Line > 0 {
			result.Message = fmt.Sprintf("%s:%d:%d: ", result.File, f.Line, f.Column)
		}
		result.Message += f.Message
		return result
	}
	message, at := machineVerdict(m.tool, t, ran.Output)
	if result.OK = message == ""; !result.OK {
		result.Message = fmt.Sprintf("%s:%d:%d: %s", result.File, at.Line, at.Column, message)
	}
	return result
}

// machineVerdict compares the output of a test of a machine with the expected output.
// machineVerdict also checks the input and the output against the schemas of the machine. If the
// test failed, machineVerdict returns the reason and the position of the value in the test. If the
// test passed, the reason is "".
func machineVerdict(t app.Tool, test machine.Test, output json.RawMessage) (message string, at machine.Position) {
	value, err := strictjson.Decode(output, strictjson.Limits{})
	parts, ok := value.(map[string]any)
	if err != nil || !ok {
		return "the result cannot be decoded", test.Position
	}
	for _, check := range []struct {
		what   string
		schema json.RawMessage
		value  any
		at     machine.Position
	}{
		{"the input", t.InputSchema, parts["input"], test.Given.Position},
		{"the output", t.OutputSchema, parts["output"], test.Expect.Position},
	} {
		if check.schema == nil {
			continue
		}
		compiled, err := schema.Compile(check.schema, schema.Options{})
		if err != nil {
			return err.Error(), test.Position
		}
		if found := compiled.Validate(check.value); len(found) > 0 {
			return check.what + ": " + abi.Summary(found), cmp.Or(check.at, test.Position)
		}
	}
	return mismatch("output", parts["expect"], parts["output"]).text, test.Expect.Position
}
