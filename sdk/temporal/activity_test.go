package temporal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/sdk/temporal"
)

// A function node reads the outputs of earlier nodes. A function node returns an output and
// additions to the context.
func TestRunTool(t *testing.T) {
	a := temporal.NewActivities(openMem(t), temporal.Options{})
	answer, err := activities(t, a).ExecuteActivity(a.RunTool, temporal.Request{
		Tool: "node", User: "ann", Env: map[string]string{"MODE": "test"},
		Context: json.RawMessage(`{"steps": {"fetch": {"output": {"items": [1, 2, 3]}}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var result temporal.Result
	if err := answer.Get(&result); err != nil {
		t.Fatal(err)
	}
	if got, want := string(result.Output), `{"region":"eu","mode":"test","user":"ann"}`; got != want {
		t.Errorf("output = %s; want %s", got, want)
	}
	if got, want := string(result.Context), `{"total":3}`; got != want {
		t.Errorf("context = %s; want %s", got, want)
	}
	if !result.OK || result.RunID == "" || result.Repeated || len(result.Logs) != 1 || result.Logs[0].Text != "counted" {
		t.Errorf("result = %+v; want a run with one log line", result)
	}
}

// Each fault becomes an error whose type is the code of the fault. The code determines whether the
// error is retryable.
func TestFaults(t *testing.T) {
	closed := openMem(t)
	_ = closed.Close()
	open := openMem(t)
	for _, tt := range []struct {
		request   temporal.Request
		host      *host.Host
		code      abi.Code
		retryable bool
		logs      int
	}{
		{request: temporal.Request{Tool: "throws"}, code: abi.ToolError, logs: 1},
		{request: temporal.Request{Tool: "meddles"}, code: abi.OutputInvalid},
		{request: temporal.Request{Tool: "scores"}, code: abi.SchemaViolation},
		{request: temporal.Request{Tool: "stranger"}, code: abi.NotFound},
		{request: temporal.Request{Tool: "none"}, code: abi.NotFound},
		{request: temporal.Request{Tool: "broken"}, code: abi.SourceInvalid},
		{request: temporal.Request{Tool: "visit"}, code: abi.NoUser},
		{request: temporal.Request{Tool: "visit", User: "ann", Input: json.RawMessage(`{"page": 1}`)}, code: abi.InputInvalid},
		{request: temporal.Request{Tool: "visit", User: "ann\x00"}, code: abi.InvalidArgument},
		{request: temporal.Request{Tool: "visit", User: "ann", Context: json.RawMessage(`[]`)}, code: abi.InputInvalid},
		{request: temporal.Request{Tool: "visit", User: "ann"}, host: closed, code: abi.Unavailable, retryable: true},
	} {
		h := tt.host
		if h == nil {
			h = open
		}
		a := temporal.NewActivities(h, temporal.Options{})
		_, err := activities(t, a).ExecuteActivity(a.RunTool, tt.request)
		failed, ok := errors.AsType[*sdk.ApplicationError](err)
		if !ok || failed.Type() != string(tt.code) || failed.NonRetryable() == tt.retryable {
			t.Errorf("%s: %v; want a %s, retryable %v", tt.request.Tool, err, tt.code, tt.retryable)
			continue
		}
		if f := temporal.FaultOf(err); f == nil || f.Code != tt.code || f.Message == "" {
			t.Errorf("%s: FaultOf = %+v; want a %s", tt.request.Tool, f, tt.code)
		}
		if r := temporal.ResultOf(err); r == nil || r.OK || len(r.Logs) != tt.logs {
			t.Errorf("%s: ResultOf = %+v; want the failed run, with %d lines", tt.request.Tool, r, tt.logs)
		}
	}
}

// Only the code determines whether a fault is retryable.
func TestRetryable(t *testing.T) {
	again := map[abi.Code]bool{abi.Conflict: true, abi.Unavailable: true, abi.Timeout: true, abi.Internal: true}
	for _, code := range abi.Codes() {
		if got := temporal.Retryable(&abi.Fault{Code: code}); got != again[code] {
			t.Errorf("Retryable(%s) = %v; want %v", code, got, again[code])
		}
	}
}

func TestOptions(t *testing.T) {
	h := openMem(t)
	failing := temporal.NewActivities(h, temporal.Options{Retryable: func(f *abi.Fault) bool { return f.Code == abi.ToolError }})
	_, err := activities(t, failing).ExecuteActivity(failing.RunTool, temporal.Request{Tool: "throws"})
	if failed, ok := errors.AsType[*sdk.ApplicationError](err); !ok || failed.NonRetryable() {
		t.Errorf("%v; want an error that Options.Retryable made retryable", err)
	}
	for _, tt := range []struct {
		refusal error
		code    abi.Code
	}{
		{errors.New("not here"), abi.AccessDenied}, {abi.Faultf(abi.NoUser, "who?"), abi.NoUser},
	} {
		refusing := temporal.NewActivities(h, temporal.Options{Caller: func(context.Context, temporal.Request) (host.Caller, error) {
			return host.Caller{}, tt.refusal
		}})
		_, err := activities(t, refusing).ExecuteActivity(refusing.RunTool, temporal.Request{Tool: "visit", User: "ann"})
		if f := temporal.FaultOf(err); f == nil || f.Code != tt.code || temporal.ResultOf(err) != nil {
			t.Errorf("a rejected request: %v; want %s and no result", err, tt.code)
		}
	}
	pinned := temporal.NewActivities(h, temporal.Options{Caller: func(_ context.Context, r temporal.Request) (host.Caller, error) {
		return host.Caller{Tenant: host.DefaultTenant, User: "ann"}, nil
	}})
	if _, err := activities(t, pinned).ExecuteActivity(pinned.RunTool, temporal.Request{Tool: "visit", User: "bob", Tenant: "other"}); err != nil {
		t.Fatal(err)
	}
	if got := visits(t, h); got != `{"count":1}` {
		t.Errorf("ann's visits = %s; want one, as set by Options.Caller", got)
	}
}

// The tool stops whenever its activity ends. If the workflow has canceled the activity, the error
// is not retryable. In any other case, another worker can retry the run.
func TestStop(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cause    error
		canceled bool
	}{
		{"the workflow cancels", sdk.NewCanceledError(), true},
		{"the worker shuts down", worker.ErrWorkerShutdown, false},
		{"the activity is paused", activity.ErrActivityPaused, false},
		{"the context ends", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
			defer cancel(nil)
			h := openMem(t)
			a := temporal.NewActivities(h, temporal.Options{Caller: func(_ context.Context, r temporal.Request) (host.Caller, error) {
				time.AfterFunc(50*time.Millisecond, func() { cancel(tt.cause) }) // the tool is running or will not start
				return host.Caller{}, nil
			}})
			env := activities(t, a)
			env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
			_, err := env.ExecuteActivity(a.RunTool, temporal.Request{Tool: "loop"})
			if f := temporal.FaultOf(err); f == nil || f.Code != abi.Cancelled {
				t.Errorf("FaultOf(%v) = %+v; want cancelled", err, f)
			}
			if got := sdk.IsCanceledError(err); got != tt.canceled {
				t.Errorf("%v: cancelled = %v; want %v", err, got, tt.canceled)
			}
			if failed, ok := errors.AsType[*sdk.ApplicationError](err); ok && failed.NonRetryable() {
				t.Errorf("%v is not retryable; want a retryable error", err)
			}
		})
	}
}

// FaultOf ignores errors of other activities and of the workflow itself.
func TestFaultOfOthers(t *testing.T) {
	for _, err := range []error{
		nil, errors.New("other"), sdk.NewApplicationError("", "timeout"), sdk.NewApplicationError("", "timeout", "a text"),
		sdk.NewApplicationError("", "made_up", &abi.Fault{Code: "made_up"}), sdk.NewCanceledError(), sdk.NewCanceledError(7),
	} {
		env := suite().NewTestActivityEnvironment()
		env.RegisterActivityWithOptions(func() error { return err }, activity.RegisterOptions{Name: "other"})
		_, failed := env.ExecuteActivity("other")
		for _, e := range []error{err, failed} {
			if f, r := temporal.FaultOf(e), temporal.ResultOf(e); f != nil || r != nil {
				t.Errorf("FaultOf, ResultOf(%v) = %+v, %+v; want none", e, f, r)
			}
		}
	}
}

// TestWorkflowOwnsFacts runs nodes of two toolrun workflows in different sessions.
func TestWorkflowOwnsFacts(t *testing.T) {
	node := temporal.NewActivities(openMem(t), temporal.Options{})
	for i, want := range []struct{ workflow, output string }{{"w1", "1"}, {"w1", "2"}, {"w2", "1"}, {"w1", "3"}} {
		request := temporal.Request{Tool: "step", User: "ann", Session: "s" + strconv.Itoa(i), Workflow: want.workflow}
		value, err := activities(t, node).ExecuteActivity(node.RunTool, request)
		if err != nil {
			t.Fatal(err)
		}
		var result temporal.Result
		if err := value.Get(&result); err != nil || string(result.Output) != want.output {
			t.Errorf("node %d of %s = %s, %v; want %s", i, want.workflow, result.Output, err, want.output)
		}
	}
}
