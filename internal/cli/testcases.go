package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// testRunner runs the tests of an app.
type testRunner struct {
	baseCommand
	pr      *project
	engines []engine.Engine
}

// run runs the tests of a tool. The tests in the file of a machine run before the test cases.
func (tr testRunner) run(ctx context.Context, t toolTests) ([]testResult, error) {
	var results []testResult
	if t.doc != nil {
		more, err := tr.runMachine(ctx, t)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	for _, c := range t.cases {
		result, err := tr.runCase(ctx, t.tool, c)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// shown returns the path to display for a file of the app.
func (tr testRunner) shown(file string) string {
	return tr.pr.env.show(filepath.Join(tr.pr.dir, filepath.FromSlash(file)))
}

// open opens an app that has the given tools and no records.
func (tr testRunner) open(ctx context.Context, tools ...app.Tool) (*host.Host, func() error, error) {
	tested := *tr.pr.app
	tested.Tools, tested.DefaultTool, tested.AgentFiles, tested.Agents, tested.AgentSet, tested.Sleep = tools, "", nil, nil, nil, nil
	backend := mem.New()
	h, err := host.Open(ctx, host.Options{App: &tested, Backend: backend, Engines: tr.engines, SweepEvery: -1, Now: tr.env.Now, Logger: tr.out.logger()})
	if err != nil {
		return nil, nil, errors.Join(err, backend.Close())
	}
	return h, func() error { return errors.Join(h.Close(), backend.Close()) }, nil
}

func newTestResult(t app.Tool, name, file string, line int) testResult {
	return testResult{Tool: t.Name, Test: name, File: file, Line: line, Changes: []report.Change{}, Remembered: []report.Remembered{}}
}

// add adds the changes and the warnings of a run. The warning about runs in the process of toolrun
// is left out, because it would be the same for all tests.
func (r *testResult) add(ran *report.Result) {
	r.Changes, r.Remembered = append(r.Changes, ran.Changes...), append(r.Remembered, ran.Remembered...)
	for _, warning := range ran.Warnings {
		if warning != host.InProcessWarning {
			r.Warnings = append(r.Warnings, warning)
		}
	}
}

// runCase runs a test case.
func (tr testRunner) runCase(ctx context.Context, t app.Tool, c app.Case) (result testResult, err error) {
	result = newTestResult(t, c.Name, tr.shown(c.File), c.Line)
	h, closeAll, err := tr.open(ctx, t)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	at := func(v app.CaseValue, pointer, message string) string {
		line, column := v.Position(pointer)
		return fmt.Sprintf("%s:%d:%d: %s", result.File, line, column, message)
	}
	inv := host.Invocation{Tool: t.Name, Test: true, Input: c.Given, Context: c.Context, Caller: host.Caller{User: c.User, Session: c.Session}}
	if c.Mocks != nil {
		if inv.Mocks, inv.Recalls, err = host.ReadMocks(c.Mocks.JSON); err != nil {
			result.Message = at(*c.Mocks, "", faultOf(err).Message)
			return result, nil
		}
	}
	for _, r := range c.Before {
		if err := storeBefore(ctx, h, inv.Caller, r); err != nil {
			result.Message = at(r.CaseValue, "", fmt.Sprintf("cannot store the content of %s: %s", r.Store, faultOf(err).Message))
			return result, nil
		}
	}
	began := time.Now()
	ran, err := h.Run(ctx, inv)
	result.took = time.Since(began)
	result.add(ran)
	if err != nil || c.Fails != "" {
		result.Message = tr.faultVerdict(t, c, ran)
	} else if v, found := caseVerdict(c, ran); found.text != "" {
		result.Message = at(v, found.pointer, found.text)
	}
	result.OK = result.Message == ""
	return result, nil
}

// storeBefore stores the content that a store must have before a test case runs.
func storeBefore(ctx context.Context, h *host.Host, caller host.Caller, r app.CaseRecord) error {
	store, err := json.Marshal(r.Store)
	if err != nil {
		return err
	}
	call := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{store, r.JSON, json.RawMessage(`{"replace":true}`)}}
	_, _, err = h.Stores().Do(ctx, caller, memory.Operator(), call)
	return err
}

// faultVerdict compares the fault of a run with the fault that the test case expects.
func (tr testRunner) faultVerdict(t app.Tool, c app.Case, ran *report.Result) string {
	switch {
	case ran.Error == nil:
		return fmt.Sprintf("the run succeeds; want the fault %s", c.Fails)
	case ran.Error.Code == c.Fails:
		return ""
	}
	f := tr.pr.codeFolder(t.Name).fault(ran.Error)
	message := fmt.Sprintf("the run fails with %s: %s", f.Code, f.Message)
	if f.Line > 0 {
		message = fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, message)
	}
	if c.Fails != "" {
		message += fmt.Sprintf("; want the fault %s", c.Fails)
	}
	if f.Hint != "" {
		message += "\n  hint: " + f.Hint
	}
	return message
}

// caseVerdict compares a Result with the expectations of a test case. If an expectation is not met,
// the results are the expectation and the first difference.
func caseVerdict(c app.Case, ran *report.Result) (app.CaseValue, unequal) {
	if c.Expect != nil {
		if found := mismatchJSON("output", c.Expect.JSON, ran.Output); found.text != "" {
			return *c.Expect, found
		}
	}
	if c.Remembered != nil {
		got, err := json.Marshal(ran.Remembered)
		if err != nil {
			return *c.Remembered, unequal{text: err.Error()}
		}
		if found := mismatchJSON("remembered", c.Remembered.JSON, got); found.text != "" {
			return *c.Remembered, found
		}
	}
	for _, r := range c.After {
		if found := mismatchJSON(r.Store, r.JSON, contentAfter(c, ran, r.Store)); found.text != "" {
			return r.CaseValue, found
		}
	}
	return app.CaseValue{}, unequal{}
}

// contentAfter returns the content of a store after the run.
func contentAfter(c app.Case, ran *report.Result, store string) json.RawMessage {
	content := json.RawMessage("null")
	for _, r := range c.Before {
		if r.Store == store {
			content = r.JSON
		}
	}
	for _, change := range ran.Changes {
		if change.Store == store && change.Item == "" {
			content = change.After
		}
	}
	return content
}

// mismatchJSON is like mismatch, but the arguments are JSON texts.
func mismatchJSON(where string, want, got json.RawMessage) unequal {
	wanted, err := strictjson.Decode(want, strictjson.Limits{})
	if err != nil {
		return unequal{text: err.Error()}
	}
	value, err := strictjson.Decode(got, strictjson.Limits{})
	if err != nil {
		return unequal{text: err.Error()}
	}
	return mismatch(where, wanted, value)
}
