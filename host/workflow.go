package host

import (
	"context"

	"github.com/toolrun/toolrun/host/session"
)

// Workflows is a handle for the workflows of an app. A workflow is a tree of runs and sessions. The
// runs and sessions of a workflow share the facts whose scope is execution_tree. A workflow starts
// when its id is first used as Caller.Workflow in a run or a write. Workflows is safe for
// concurrent use.
type Workflows struct{ h *Host }

// Workflows returns a handle for the app's workflows.
func (h *Host) Workflows() Workflows { return Workflows{h} }

// Get returns the caller's workflow, even if the workflow has ended. If the workflow does not
// exist, the error is abi.NotFound. If it belongs to another user, the error is abi.AccessDenied.
func (w Workflows) Get(ctx context.Context, caller Caller) (session.Workflow, error) {
	return w.h.memory.Workflows().Get(ctx, caller.as(""))
}

// End ends the caller's workflow and removes its facts. When a workflow has ended, the host rejects
// requests that have the id of this workflow.
func (w Workflows) End(ctx context.Context, caller Caller) (session.Workflow, error) {
	ended, err := w.h.memory.Workflows().End(ctx, caller.as(""))
	if err == nil {
		for _, o := range w.h.observers {
			o.WorkflowEnded(ctx, caller)
		}
	}
	return ended, err
}

// List returns a page of workflows, sorted by id. The page contains at most the given number of
// workflows. The arguments and results are like those of Sessions.List.
func (w Workflows) List(ctx context.Context, caller Caller, after string, limit int) (found []session.Workflow, next string, err error) {
	err = w.h.admitted(ctx, caller, func() (err error) {
		found, next, err = w.h.memory.Workflows().List(ctx, caller.as(""), after, limit)
		return err
	})
	return found, next, err
}
