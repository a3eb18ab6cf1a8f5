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

// Activities contains the activities that a worker registers. RunTool is the only activity.
// Activities is safe for concurrent use.
type Activities struct {
	host    *host.Host
	options Options
}

// NewActivities returns activities that run the tools of h. Stop the worker before closing h. A
// worker for several apps must register the Activities of each app with a different prefix; see
// activity.RegisterOptions.
func NewActivities(h *host.Host, options Options) *Activities {
	return &Activities{host: h, options: options.withDefaults()}
}

// RunTool runs a tool once. If an attempt of the activity has committed, a retry in the same
// workflow run does not run the tool again. For 24 hours, such a retry returns the Result of the
// attempt that has committed, and sets Repeated.
//
// The error is a *temporal.ApplicationError whose type is the code of the fault; FaultOf returns
// the fault. If the workflow has canceled the activity, the error is a *temporal.CanceledError. In
// both cases, the run has stored nothing, unless the Outcome of the fault is "unknown". If the
// Outcome is "unknown", a retry reports whether the run was stored.
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

// key returns the idempotency key of the activity's run. All retries of the activity have the same
// key. The key is a digest, because workflow ids can be longer than idempotency keys. An activity
// without a workflow has a run id of its own.
func key(info activity.Info) string {
	h := sha256.New()
	for _, part := range []string{info.Namespace, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityRunID, info.ActivityID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "temporal-" + hex.EncodeToString(h.Sum(nil))
}

// timeLeft returns the time limit of the run: the time until the activity's deadline, minus a
// margin for the response. The run then times out before the activity, and the workflow gets a
// fault that names the tool. timeLeft returns 0 if the activity has no deadline.
func timeLeft(info activity.Info) (time.Duration, error) {
	if info.Deadline.IsZero() {
		return 0, nil
	}
	left := time.Until(info.Deadline)
	if left -= min(left/10, time.Second); left <= 0 {
		return 0, abi.Faultf(abi.Timeout, "the deadline of the activity expired before the tool ran")
	}
	return left, nil
}

// withFault returns a context that ends when ctx ends and has a fault as its cause. The host does
// not understand Temporal's own causes, such as a worker shutdown.
func withFault(ctx context.Context) (context.Context, func()) {
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(engine.FaultFromContext(ctx)) })
	return within, func() {
		stop()
		cancel(nil)
	}
}

// maxBeat is the longest time between two heartbeats. maxBeat must be short, because some servers
// report a cancellation only in the response to a heartbeat.
const maxBeat = 10 * time.Second

// heartbeat sends at least three heartbeats per heartbeat timeout until the returned function is
// called. If the tool ends before the first heartbeat, no heartbeat is sent.
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
