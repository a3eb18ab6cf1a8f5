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

// Activities are the activities that a worker registers; RunTool is the only one. It is safe for
// concurrent use.
type Activities struct {
	host    *host.Host
	options Options
}

// NewActivities returns the activities that run the tools of h. Close h after the worker has
// stopped. A worker for several apps registers each with its own prefix; see
// activity.RegisterOptions.
func NewActivities(h *host.Host, options Options) *Activities {
	return &Activities{host: h, options: options.withDefaults()}
}

// RunTool runs a tool once. The same activity in the same run of a workflow is the same run of the
// tool: if an earlier attempt has committed, RunTool returns its Result, with Repeated set, for 24
// hours.
//
// The error is a *temporal.ApplicationError whose type is the code of the fault; FaultOf returns
// the fault. If the workflow has cancelled the activity, the error is a *temporal.CanceledError. In
// both cases nothing was stored, unless the Outcome of the fault is unknown: then a retry reports
// it.
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
		return nil, abi.Faultf(abi.AccessDenied, "the request was rejected: %v", err)
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

// key returns an idempotency key, which makes a retry of the activity the same run. It is a digest,
// because workflow ids may be longer than keys. An activity without a workflow has its own run id.
func key(info activity.Info) string {
	h := sha256.New()
	for _, part := range []string{info.Namespace, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityRunID, info.ActivityID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "temporal-" + hex.EncodeToString(h.Sum(nil))
}

// timeLeft returns the time limit of the run: the time until the activity's deadline, minus a
// margin for the response, so that the workflow gets a fault that names the tool instead of a
// general timeout. 0 means no deadline.
func timeLeft(info activity.Info) (time.Duration, error) {
	if info.Deadline.IsZero() {
		return 0, nil
	}
	left := time.Until(info.Deadline)
	if left -= min(left/10, time.Second); left <= 0 {
		return 0, abi.Faultf(abi.Timeout, "the activity's deadline passed before the tool ran")
	}
	return left, nil
}

// withFault returns a context that ends with ctx and has a fault as its cause. A host does not know
// Temporal's causes, such as a worker shutdown.
func withFault(ctx context.Context) (context.Context, func()) {
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(engine.FaultFromContext(ctx)) })
	return within, func() {
		stop()
		cancel(nil)
	}
}

// maxBeat bounds the time between two heartbeats. Some servers report a cancellation only in the
// response to a heartbeat.
const maxBeat = 10 * time.Second

// heartbeat sends three heartbeats per timeout until the returned function is called. A tool that
// ends sooner causes no traffic.
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
