package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
)

// testCommand implements the command that runs the tests of tools.
type testCommand struct{ baseCommand }

func (tc testCommand) command() *cobra.Command {
	var file, junit string
	var isolation isolationFlags
	cmd := &cobra.Command{
		Use:   "test [TOOL...]",
		Short: "Run the tests of tools",
		Long: `Run the tests of all tools of the app, or of the named tools. The tests of a tool NAME are in the file
NAME.tests.yaml in the folder of the tool. The tests of a machine can also be in its section verifies. See
docs/howto/test-a-tool.md.

A test is a run like toolrun run --test, with an empty memory. A test calls no models and stores nothing. In a test,
recall finds nothing, unless the test contains results of recall.

The exit code is 1 if a test fails, and 2 if a file has mistakes.`,
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
	// Message contains the reason, if the test failed.
	Message string          `json:"message,omitempty"`
	Changes []report.Change `json:"changes"`
	// Remembered contains the entries that the run would have stored in collections.
	Remembered []report.Remembered `json:"remembered"`
	// Warnings contains the warnings of the run.
	Warnings []string `json:"warnings,omitempty"`
	took     time.Duration
}

// toolTests contains the tests of one tool.
type toolTests struct {
	tool  app.Tool
	doc   *machine.Document // a machine file that contains tests, or nil
	cases []app.Case
}

func (tc testCommand) run(ctx context.Context, file string, names []string, junit string, isolation isolationFlags) (err error) {
	pr, err := tc.projects.openApp(file)
	if err != nil {
		return err
	}
	defer pr.close()
	found, err := tc.find(pr, names)
	if err != nil {
		return err
	}
	for _, t := range found {
		if err := pythonCommands(tc).offer(ctx, pr, t.tool.Name, isolation); err != nil {
			return err
		}
	}
	for _, stray := range pr.app.StrayCases() {
		tc.out.warn("the tests in %s are not executed, because no tool belongs to the file; name the file like a tool in its folder, such as TOOL.tests.yaml",
			tc.env.show(filepath.Join(pr.dir, filepath.FromSlash(stray))))
	}
	tools, err := isolation.open(tc.out, tc.out.logger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	tr := testRunner{tc.baseCommand, pr, tools.engines}
	results := []testResult{}
	for _, t := range found {
		more, err := tr.run(ctx, t)
		if err != nil {
			return err
		}
		results = append(results, more...)
	}
	if junit != "" {
		if err := writeJUnit(tc.env.path(junit), results); err != nil {
			return abi.Faultf(abi.Unavailable, "cannot write %s: %v", junit, cause(err))
		}
	}
	return errors.Join(ctx.Err(), tc.print(results))
}

// find returns the tests of an app. The argument "names" selects tools. If "names" is empty, the
// method returns the tests of all tools.
func (tc testCommand) find(pr *project, names []string) ([]toolTests, error) {
	for _, name := range names {
		if err := pr.mustTool(name); err != nil {
			return nil, err
		}
	}
	var all []toolTests
	for _, t := range pr.app.Tools {
		selected := slices.Contains(names, t.Name)
		if !selected && len(names) > 0 {
			continue
		}
		found, err := tc.testsOf(pr, t)
		if err != nil {
			return nil, err
		}
		if found.doc == nil && len(found.cases) == 0 {
			if selected {
				return nil, usagef("write tests in the file "+pr.env.show(filepath.Join(pr.dir, filepath.FromSlash(t.CasesFile()))), "the tool %q has no tests", t.Name)
			}
			continue
		}
		if len(t.Broken) > 0 {
			return nil, abi.Faultf(abi.SourceInvalid, "the declaration of the tool %q has errors: %v", t.Name, t.Broken).WithHint("see: toolrun check")
		}
		all = append(all, found)
	}
	return all, nil
}

// testsOf reads the tests of a tool.
func (tc testCommand) testsOf(pr *project, t app.Tool) (toolTests, error) {
	found := toolTests{tool: t}
	var problems problem.List
	found.cases, problems = app.LoadCases(pr.app.Files, t)
	if problems.Err() != nil {
		return found, &appError{tc.env.show(filepath.Join(pr.dir, filepath.FromSlash(t.CasesFile()))), shownProblems(pr, problems)}
	}
	if path.Ext(t.Source) != machine.Extension || len(t.Broken) > 0 {
		return found, nil
	}
	source, err := tc.env.readFile("the machine", filepath.Join(pr.dir, filepath.FromSlash(t.Source)))
	if err != nil {
		return found, err
	}
	doc, problems := machine.Parse(t.Source, source)
	if err := problems.Err(); err != nil {
		return found, abi.Faultf(abi.SourceInvalid, "%v", err)
	}
	if len(doc.Tests) > 0 {
		found.doc = doc
	}
	return found, nil
}

// print prints the results. If a test has failed, the method returns an error.
func (tc testCommand) print(results []testResult) error {
	failed := 0
	if len(results) == 0 {
		tc.out.warn("the app has no tests; write tests in files such as TOOL.tests.yaml, or in the section `verifies` of a machine")
	}
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
			for _, warning := range r.Warnings {
				line += "\n  warning: " + warning
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
