package session

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Workflow describes a workflow: the tree of runs and sessions that share facts with the scope
// execution_tree.
type Workflow struct {
	ID string `json:"workflow_id"`
	// User is the id of the user of the workflow. User is "" while the workflow is anonymous, and
	// after its user was erased.
	User    string    `json:"user_id,omitempty"`
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"`
	// Ended is the time at which the workflow ended, or nil if the workflow is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// WorkflowConfig configures Workflows. All fields of WorkflowConfig have the same meaning as in
// Config.
type WorkflowConfig struct{ Idle, NamedFor time.Duration }

// Workflows provides access to the workflows of an app in all tenants. The ids of workflows are
// verified, so a confined caller has no further restriction. Workflows is safe for concurrent use.
type Workflows struct{ lifecycle }

// NewWorkflows returns the Workflows of an app. The argument "db" contains the records of the app.
func NewWorkflows(db *records.DB, cfg WorkflowConfig) *Workflows {
	return &Workflows{lifecycle{workflows, db, cfg.Idle, cfg.NamedFor}}
}

// Use starts the caller's workflow if the workflow does not exist. Use binds the workflow to the
// caller's user, and records the use.
func (w *Workflows) Use(ctx context.Context, c partition.Caller) error {
	key := w.of.key(w.db.App, c)
	err := w.db.Update(ctx, c, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
		state, err := w.used(now[0], c)
		if err != nil {
			return nil, err
		}
		return w.write(nil, now[0], key, state, time.Time{}, c)
	})
	return w.db.Fault("use a workflow", err)
}

// Stale reports whether a use of the caller's workflow must be recorded before a run. Stale returns
// the same errors as Check.
func (w *Workflows) Stale(r storage.Record, c partition.Caller) (bool, error) {
	if c.Workflow == "" {
		return false, nil
	}
	_, stale, err := w.stale(r, c)
	return stale, err
}

// Get returns the caller's workflow, even if it has ended. The error is abi.NotFound if the workflow
// does not exist, and abi.AccessDenied if it belongs to another user.
func (w *Workflows) Get(ctx context.Context, c partition.Caller) (Workflow, error) {
	if c.Workflow == "" {
		return Workflow{}, abi.Faultf(abi.InvalidArgument, "the workflow has no id")
	}
	r, _, err := w.read(ctx, c)
	if err != nil {
		return Workflow{}, err
	}
	return w.Describe(r)
}

// Describe returns the Workflow that a record contains.
func (w *Workflows) Describe(r storage.Record) (Workflow, error) {
	state, err := Decode(r)
	if err != nil {
		return Workflow{}, w.db.Fault(w.of.reading(), err)
	}
	return Workflow{
		ID: r.Key.Part(storage.Workflow), User: state.User, Started: state.Started, Used: r.Updated, Ended: w.endOf(r, state),
	}, nil
}

// End ends the caller's workflow and removes the records that live only as long as the workflow.
// After the workflow has ended, requests with the workflow id are rejected. If the workflow has
// already ended, its end time does not change.
func (w *Workflows) End(ctx context.Context, c partition.Caller) (Workflow, error) {
	if c.Workflow == "" {
		return Workflow{}, abi.Faultf(abi.InvalidArgument, "the workflow has no id")
	}
	if err := c.Check(); err != nil {
		return Workflow{}, err
	}
	if err := (ending{&w.lifecycle, c, nil}).run(ctx); err != nil {
		return Workflow{}, err
	}
	return w.Get(ctx, c)
}
