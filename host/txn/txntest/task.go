package txntest

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/storage"
)

// Task is a goroutine of a [Scheduler]. When a hook of a task is called, no other task continues
// until the hook has returned.
type Task struct {
	// OnRead is called after each successful Read, with the records that Read returned.
	OnRead func(want []storage.Key, found []storage.Record)
	// OnUpdate is called after each Update that was applied. The arguments of OnUpdate are the
	// records that the update read and the writes of the update.
	OnUpdate func(now []storage.Head, writes []storage.Write)
	// OnDelete is called before each DeleteWhere.
	OnDelete func(storage.Selector)
	// Fault makes the next Update fail. The failed Update clears the field Fault.
	Fault Fault

	scheduler    *Scheduler
	name         string
	resume       chan struct{}
	paused, done bool
	waited       bool
	lost         int
}

// Fault is a simulated failure of the connection between a task and its backend.
type Fault int

// The following values are faults of an Update. For each fault, the task gets an error that wraps
// [storage.ErrUnknownOutcome].
const (
	NoFault     Fault = iota
	ReplyLost         // the update is applied
	RequestLost       // the update is not applied
)

// ErrLost is the error that the next Update of a task returns if the task has a Fault.
var ErrLost = fmt.Errorf("lost: %w", storage.ErrUnknownOutcome)

// String returns the name of the task.
func (t *Task) String() string { return t.name }

// Lost returns the step in which an Update of the task returned ErrLost. If no Update returned
// ErrLost, the result is 0.
func (t *Task) Lost() int { return t.lost }

// Waited reports whether the task has ever waited for another task.
func (t *Task) Waited() bool { return t.waited }

// Yield pauses the calling task until the scheduler lets it continue. Yield does nothing if t is
// nil.
func (t *Task) Yield() {
	if t == nil {
		return
	}
	t.paused = true
	<-t.resume
}

func (t *Task) wake() {
	t.paused = false
	t.resume <- struct{}{}
}

type taskKey struct{}

// taskOf returns the task to which a context belongs. If the context belongs to no task, the result
// is nil.
func taskOf(ctx context.Context) *Task {
	t, _ := ctx.Value(taskKey{}).(*Task)
	return t
}
