package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
)

// Activities are what a worker registers: RunTool is its one activity. It is safe for concurrent use.
type Activities struct {
	host    *host.Host
	options Options
}

// NewActivities makes the activity that runs the tools of h, which is closed after the worker has stopped. A worker
// for several apps registers each with a prefix of its own; see activity.RegisterOptions.
func NewActivities(h *host.Host, options Options) *Activities {
	return &Activities{host: h, options: options.withDefaults()}
}

// RunTool runs a tool once. The same activity of the same run of a workflow is the same run of the tool: where an
// earlier try has stored something, it is answered with that Result, with Repeated set, for 24 hours.
//
// The error is a *temporal.ApplicationError whose type is the fault's code; FaultOf reads it. Where the workflow has
// cancelled the activity it is a *temporal.CanceledError. In both cases nothing was stored, unless the fault's Outcome
// says that it is unknown: then a retry finds out.
func (a *Activities) RunTool(ctx context.Context, r Request) (*Result, error) {
	info := activity.GetInfo(ctx)
	result, err := a.run(ctx, info, r)
	if err == nil {
		return result, nil
	}
	return nil, a.failure(ctx, abi.FaultOf(err), result)
}

func (a *Activities) run(ctx context.Context, info activity.Info, r Request) (*Result, error) {
	caller, err := a.options.Caller(ctx, r)
	if err != nil {
		if _, ok := errors.AsType[*abi.Fault](err); ok {
			return nil, err
		}
		return nil, abi.Faultf(abi.AccessDenied, "the request was refused: %v", err)
	}
	timeout, err := timeLeft(info)
	if err != nil {
		return nil, err
	}
	defer heartbeat(ctx, info.HeartbeatTimeout)()
	ctx, stop := withFault(ctx)
	defer stop()
	return a.host.Run(ctx, host.Invocation{
		Tool: r.Tool, Caller: caller, Input: r.Input, Context: r.Context, Metadata: r.Metadata, Env: r.Env,
		Key: key(info), Timeout: timeout,
	})
}

// key makes a retry of the activity the same run. It is a digest, for ids of workflows may be longer than keys. An
// activity without a workflow has an execution of its own.
func key(info activity.Info) string {
	h := sha256.New()
	for _, part := range []string{info.Namespace, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityRunID, info.ActivityID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "temporal-" + hex.EncodeToString(h.Sum(nil))
}

// timeLeft is how long the run may take: until the activity's deadline, less what the answer takes, so that the workflow
// learns which tool was too slow and not just that something was. 0 is no deadline.
func timeLeft(info activity.Info) (time.Duration, error) {
	if info.Deadline.IsZero() {
		return 0, nil
	}
	left := time.Until(info.Deadline)
	if left -= min(left/10, time.Second); left <= 0 {
		return 0, abi.Faultf(abi.Timeout, "the activity's deadline was over before the tool ran")
	}
	return left, nil
}

// withFault returns a context that ends when ctx does, with a fault for a cause: Temporal's own causes, such as that a
// worker shuts down, mean nothing to a host.
func withFault(ctx context.Context) (context.Context, func()) {
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(engine.EndOf(ctx)) })
	return within, func() {
		stop()
		cancel(nil)
	}
}

// maxBeat bounds the time between two heartbeats: it is with the answer to one that some servers tell a worker to cancel.
const maxBeat = 10 * time.Second

// heartbeat beats three times in each timeout until the function that it returns is called. A tool that is done sooner
// causes no traffic.
func heartbeat(ctx context.Context, timeout time.Duration) (stop func()) {
	every := maxBeat
	if timeout > 0 {
		every = min(every, timeout/3)
	}
	ticker := time.NewTicker(max(every, time.Millisecond))
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(over)
	}
}
