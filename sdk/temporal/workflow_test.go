package temporal_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/sdk/temporal"
)

// environment returns a workflow with one function node.
func environment(run any, options workflow.ActivityOptions) *testsuite.TestWorkflowEnvironment {
	env := suite().NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: "RunTool"})
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, r temporal.Request) (*temporal.Result, error) {
		var result *temporal.Result
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), "RunTool", r).Get(ctx, &result)
		return result, err
	}, workflow.RegisterOptions{Name: "node"})
	return env
}

// The worker dies after the commit, but before its response. The next worker with the same database
// returns the Result.
func TestRetryAfterCrashAppliesOnce(t *testing.T) {
	dir := t.TempDir()
	h, leave := openFile(t, dir)
	defer func() { leave() }()
	var first string
	run := func(ctx context.Context, r temporal.Request) (*temporal.Result, error) {
		result, err := temporal.NewActivities(h, temporal.Options{}).RunTool(ctx, r)
		if err != nil || first != "" {
			return result, err
		}
		first = result.RunID
		leave()
		h, leave = openFile(t, dir)
		return nil, errors.New("the worker is gone")
	}
	env := environment(run, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 3}})
	env.ExecuteWorkflow("node", temporal.Request{Tool: "visit", User: "ann"})
	var result temporal.Result
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	if !result.Repeated || result.RunID != first || string(result.Output) != `{"visits":1}` {
		t.Errorf("result = %+v; want that of the first attempt, %s, repeated", result, first)
	}
	if got := visits(t, h); got != `{"count":1}` {
		t.Errorf("visits = %s; want 1 after two attempts", got)
	}
}

// Two nodes of a workflow are separate runs, even if they have the same request.
func TestEachActivityIsARun(t *testing.T) {
	h := openMem(t)
	a := temporal.NewActivities(h, temporal.Options{})
	env := suite().NewTestWorkflowEnvironment()
	env.RegisterActivity(a)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		for range 2 {
			if err := workflow.ExecuteActivity(ctx, a.RunTool, temporal.Request{Tool: "visit", User: "ann"}).Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if got := visits(t, h); got != `{"count":2}` {
		t.Errorf("visits = %s; want 2 after two nodes", got)
	}
}

func TestHeartbeats(t *testing.T) {
	a := temporal.NewActivities(openMem(t), temporal.Options{})
	env := environment(a.RunTool, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, HeartbeatTimeout: 2 * time.Second})
	var beats atomic.Int32
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats.Add(1) })
	env.ExecuteWorkflow("node", temporal.Request{Tool: "slow"})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if beats.Load() == 0 {
		t.Error("no heartbeat of a tool that ran longer than the heartbeat timeout")
	}
}

// If a workflow is canceled, an endless tool stops at the next heartbeat.
func TestCancelStopsATool(t *testing.T) {
	a := temporal.NewActivities(openMem(t), temporal.Options{})
	stopped := make(chan error, 1)
	run := func(ctx context.Context, r temporal.Request) (*temporal.Result, error) {
		result, err := a.RunTool(ctx, r)
		stopped <- err
		return result, err
	}
	env := environment(run, workflow.ActivityOptions{StartToCloseTimeout: 2 * time.Minute, HeartbeatTimeout: 3 * time.Second})
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { env.CancelWorkflow() })
	env.ExecuteWorkflow("node", temporal.Request{Tool: "loop"})
	if err := env.GetWorkflowError(); !sdk.IsCanceledError(err) {
		t.Errorf("the workflow ended with %v; want cancelled", err)
	}
	select {
	case err := <-stopped:
		if failed, ok := errors.AsType[*sdk.ApplicationError](err); !ok || failed.Type() != string(abi.Cancelled) {
			t.Errorf("the tool ended with %v; want cancelled", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the tool still runs a minute after its workflow was cancelled")
	}
}

// The deadline of the tool is earlier than the deadline of the activity, so the workflow gets the
// fault of the tool.
func TestDeadlineIsTheTools(t *testing.T) {
	a := temporal.NewActivities(openMem(t), temporal.Options{})
	env := environment(a.RunTool, workflow.ActivityOptions{
		StartToCloseTimeout: time.Second, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1},
	})
	env.ExecuteWorkflow("node", temporal.Request{Tool: "loop"})
	err := env.GetWorkflowError()
	if f := temporal.FaultOf(err); f == nil || f.Code != abi.Timeout {
		t.Errorf("FaultOf(%v) = %+v; want timeout", err, f)
	}
	if failed, ok := errors.AsType[*sdk.ApplicationError](err); ok && failed.NonRetryable() {
		t.Errorf("%v is not retryable; want a retryable error", err)
	}
}

// Faults that a retry cannot avoid are not retried, even if the policy of the workflow allows
// retries.
func TestFinalFaultsAreTriedOnce(t *testing.T) {
	a := temporal.NewActivities(openMem(t), temporal.Options{})
	tries := 0
	run := func(ctx context.Context, r temporal.Request) (*temporal.Result, error) {
		tries++
		return a.RunTool(ctx, r)
	}
	env := environment(run, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 5}})
	env.ExecuteWorkflow("node", temporal.Request{Tool: "throws"})
	if f := temporal.FaultOf(env.GetWorkflowError()); f == nil || f.Code != abi.ToolError || tries != 1 {
		t.Errorf("after %d attempts: %+v; want one tool_error", tries, f)
	}
}
