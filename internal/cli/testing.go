package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// testCommand runs the tests of machines.
type testCommand struct{ baseCommand }

func (tc testCommand) command() *cobra.Command {
	var file, junit string
	var isolation isolationFlags
	cmd := &cobra.Command{
		Use:   "test [TOOL...]",
		Short: "Run the tests of machines",
		Long: `Run the tests in the section verifies of machines: of all tools of the app that are machines, or of the named tools.

A test runs the machine with the input of the test and without stored data. It calls no model and stores nothing. The
results of steps are those that the test or the step assumes. Without an assumption, recall finds nothing, and ask fails.

The exit code is 1 if a test fails.`,
		Example: `  toolrun test
  toolrun test answer --junit report.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return tc.run(cmd.Context(), file, args, junit, isolation)
		},
	}
	appFlag(cmd, &file)
	isolation.register(cmd)
	cmd.Flags().StringVar(&junit, "junit", "", "write the results as JUnit XML to this `file`")
	return cmd
}

// testResult is the result of a test.
type testResult struct {
	Tool string `json:"tool"`
	Test string `json:"test"`
	File string `json:"file"`
	Line int    `json:"line"`
	OK   bool   `json:"ok"`
	// Message is the reason of a failure.
	Message string          `json:"message,omitempty"`
	Changes []report.Change `json:"changes"`
	took    time.Duration
}

func (tc testCommand) run(ctx context.Context, file string, names []string, junit string, isolation isolationFlags) (err error) {
	pr, err := tc.projects.open(file)
	if err != nil {
		return err
	}
	defer pr.close()
	if pr.file == "" {
		return errNoApp
	}
	docs, err := tc.machines(pr, names)
	if err != nil {
		return err
	}
	tools, err := isolation.open(tc.out, tc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	suite := testedApp(pr.app, docs)
	backend := mem.New()
	h, err := host.Open(ctx, host.Options{App: suite, Backend: backend, Engines: tools.engines, SweepEvery: -1, Now: tc.env.Now, Logger: tc.out.logger()})
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	defer func() { err = errors.Join(err, h.Close(), backend.Close()) }()
	results := []testResult{}
	for _, d := range docs {
		for i := range d.doc.Tests {
			results = append(results, tc.test(ctx, pr, h, d, i))
		}
	}
	if junit != "" {
		if err := writeJUnit(tc.env.path(junit), results); err != nil {
			return abi.Faultf(abi.Unavailable, "write %s: %v", junit, cause(err))
		}
	}
	return errors.Join(ctx.Err(), tc.print(results))
}

// testedMachine is a machine with tests.
type testedMachine struct {
	tool app.Tool
	doc  *machine.Document
}

// machines returns the machines of an app. The argument "names" selects tools; by default, all
// machines are returned.
func (tc testCommand) machines(pr *project, names []string) ([]testedMachine, error) {
	for _, name := range names {
		if err := pr.mustTool(name); err != nil {
			return nil, err
		}
	}
	var found []testedMachine
	for _, t := range pr.app.Tools {
		selected := slices.Contains(names, t.Name)
		if path.Ext(t.Source) != machine.Extension {
			if selected {
				return nil, usagef("name a tool whose source is a .machine file", "the tool %q is not a machine", t.Name)
			}
			continue
		}
		if !selected && len(names) > 0 {
			continue
		}
		if len(t.Broken) > 0 {
			return nil, abi.Faultf(abi.SourceInvalid, "the declaration of the tool %q has errors: %v", t.Name, t.Broken).WithHint("see: toolrun check")
		}
		source, err := tc.env.readFile("the machine", filepath.Join(pr.dir, filepath.FromSlash(t.Source)))
		if err != nil {
			return nil, err
		}
		doc, problems := machine.Parse(t.Source, source)
		if err := problems.Err(); err != nil {
			return nil, abi.Faultf(abi.SourceInvalid, "%v", err)
		}
		found = append(found, testedMachine{t, doc})
	}
	return found, nil
}

// testName returns the name of the tool that executes a test.
func testName(t app.Tool, index int) string { return t.Name + "." + machine.TestEntry(index) }

// testedApp returns an app with a tool for each test. The tool returns the input, the output and the
// expected output.
func testedApp(a *app.App, machines []testedMachine) *app.App {
	tested := *a
	tested.Tools, tested.DefaultTool, tested.AgentFiles, tested.Agents, tested.AgentSet = nil, "", nil, nil, nil
	for _, m := range machines {
		for i := range m.doc.Tests {
			t := m.tool
			t.Name, t.Entry, t.InputSchema, t.OutputSchema, t.Approval = testName(m.tool, i), machine.TestEntry(i), nil, nil, declare.Approval{}
			tested.Tools = append(tested.Tools, t)
		}
	}
	return &tested
}

// test runs a test.
func (tc testCommand) test(ctx context.Context, pr *project, h *host.Host, m testedMachine, index int) testResult {
	t := m.doc.Tests[index]
	result := testResult{Tool: m.tool.Name, Test: t.Name, File: pr.env.show(filepath.Join(pr.dir, filepath.FromSlash(m.doc.File))), Line: t.Line, Changes: []report.Change{}}
	began := time.Now()
	ran, err := h.Run(ctx, host.Invocation{
		Tool: testName(m.tool, index), DryRun: true, Caller: host.Caller{User: "test", Session: "test"},
	})
	result.took = time.Since(began)
	result.Changes = append(result.Changes, ran.Changes...)
	if err != nil {
		f := faultOf(err)
		if f.Line > 0 {
			result.Message = fmt.Sprintf("%s:%d:%d: ", result.File, f.Line, f.Column)
		}
		result.Message += f.Message
		return result
	}
	result.Message = verdict(m.tool, ran.Output)
	result.OK = result.Message == ""
	return result
}

// verdict compares the output of a test with the expected output, and checks both schemas of the
// machine. verdict returns the reason of a failure, or "".
func verdict(t app.Tool, output json.RawMessage) string {
	value, err := strictjson.Decode(output, strictjson.Limits{})
	parts, ok := value.(map[string]any)
	if err != nil || !ok {
		return "the result cannot be decoded"
	}
	for _, check := range []struct {
		what   string
		schema json.RawMessage
		value  any
	}{{"the input", t.InputSchema, parts["input"]}, {"the output", t.OutputSchema, parts["output"]}} {
		if check.schema == nil {
			continue
		}
		compiled, err := schema.Compile(check.schema, schema.Options{})
		if err != nil {
			return err.Error()
		}
		if found := compiled.Validate(check.value); len(found) > 0 {
			return check.what + ": " + abi.Summary(found)
		}
	}
	return mismatch("output", parts["expect"], parts["output"])
}

// mismatch returns the first difference between an expected and an actual value, or "". An object
// can have more members than expected.
func mismatch(where string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range sortedNames(w) {
			value, ok := g[name]
			if !ok {
				return fmt.Sprintf("%s.%s is missing; want %s", where, name, compactJSON(w[name]))
			}
			if found := mismatch(where+"."+name, w[name], value); found != "" {
				return found
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if found := mismatch(fmt.Sprintf("%s[%d]", where, i), w[i], g[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %s; want %s", where, compactJSON(got), compactJSON(want))
}

// compactJSON returns a value as JSON, truncated if it is long.
func compactJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return shortValue(text)
}

// print prints the results, and fails if a test failed.
func (tc testCommand) print(results []testResult) error {
	failed := 0
	for _, r := range results {
		if !r.OK {
			failed++
		}
	}
	err := tc.out.answer(results, func() error {
		for _, r := range results {
			line := fmt.Sprintf("ok    %s: %s", r.Tool, r.Test)
			if !r.OK {
				line = fmt.Sprintf("FAIL  %s: %s (%s:%d)\n  %s", r.Tool, r.Test, r.File, r.Line, r.Message)
			}
			if err := tc.out.say("%s", line); err != nil {
				return err
			}
		}
		return tc.out.say("%s, %d failed", count(len(results), "test"), failed)
	})
	if err != nil || failed == 0 {
		return err
	}
	return abi.Faultf(abi.ToolError, "%d of %s failed", failed, count(len(results), "test"))
}
