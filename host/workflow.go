package host

import (
	"context"

	"github.com/toolrun/toolrun/host/session"
)

// Workflows is a handle for the workflows of an app. A workflow is a tree of runs and sessions that
// share the facts with the scope execution_tree. A workflow starts with the first run or write that
// has its id in Caller.Workflow. Workflows is safe for concurrent use.
type Workflows struct{ h *Host }

// Workflows returns a handle for the app's workflows.
func (h *Host) Workflows() Workflows { return Workflows{h} }

// Get returns the caller's workflow, even if the workflow has ended. The error is abi.NotFound if the
// workflow does not exist, and abi.AccessDenied if it belongs to another user.
func (w Workflows) Get(ctx context.Context, caller Caller) (session.Workflow, error) {
	return w.h.memory.Workflows().Get(ctx, caller.as(""))
}

// End ends the caller's workflow and removes its facts. After the end, requests with this workflow
// id are rejected.
func (w Workflows) End(ctx context.Context, caller Caller) (session.Workflow, error) {
	ended, err := w.h.memory.Workflows().End(ctx, caller.as(""))
	if err == nil {
		for _, o := range w.h.observers {
			o.WorkflowEnded(ctx, caller)
		}
	}
	return ended, err
}

// List returns a page of at most limit workflows, sorted by id. The arguments and results of List
// are like those of Sessions.List.
func (w Workflows) List(ctx context.Context, caller Caller, after string, limit int) (found []session.Workflow, next string, err error) {
	err = w.h.admitted(ctx, caller, func() (err error) {
		found, next, err = w.h.memory.Workflows().List(ctx, caller.as(""), after, limit)
		return err
	})
	return found, next, err
}
