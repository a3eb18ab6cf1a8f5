package txntest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"

	"github.com/toolrun/toolrun/host/storage"
)

// maxSteps is much larger than the number of steps that any scenario needs.
const maxSteps = 100_000

var (
	errDeadlock = errors.New("deadlock: the tasks wait for each other")
	errLivelock = errors.New("livelock: the tasks do not finish")
)

// Scheduler is a backend that runs only one task at a time. Random numbers determine the order of
// the tasks. Tasks are goroutines that pause at every operation of the backend. The scheduler waits
// until every task is paused or waits for a lock. Then the scheduler resumes one of the paused
// tasks. Scheduler uses synctest to detect that no task is running.
//
// If the context of an operation does not belong to a task, the operation goes directly to the
// backend.
type Scheduler struct {
	storage.Backend
	// Rand chooses the next task.
	Rand  *rand.Rand
	tasks []*Task
	step  int
	err   error
	// ctx is the parent of the contexts of all tasks.
	ctx    context.Context
	cancel context.CancelFunc
}

// NewScheduler returns a Scheduler without tasks. NewScheduler must be called inside the synctest
// bubble.
func NewScheduler(b storage.Backend, rng *rand.Rand) *Scheduler {
	s := &Scheduler{Backend: b, Rand: rng}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Step returns the number of the current step. Each iteration of Run consists of two steps. In the
// first step, Run calls its function argument. In the second step, a task continues.
func (s *Scheduler) Step() int { return s.step }

// Tasks returns all tasks except the tasks that finished in an earlier Run.
func (s *Scheduler) Tasks() []*Task { return s.tasks }

// Fail records an error. Run returns the recorded error. Fail drops all errors after the first
// error.
func (s *Scheduler) Fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// Err returns the first recorded error.
func (s *Scheduler) Err() error { return s.err }

// Go creates a task that runs the function "do". The task starts when Run chooses the task for the
// first time. Set the hooks of the task before the task starts.
func (s *Scheduler) Go(name string, do func(context.Context, *Task)) *Task {
	t := &Task{scheduler: s, name: name, resume: make(chan struct{})}
	s.tasks = append(s.tasks, t)
	go func() {
		t.Yield()
		do(context.WithValue(s.ctx, taskKey{}, t), t)
		t.done = true
	}()
	return t
}

// Run resumes tasks until all tasks have finished. Run calls the function "between" before each
// step of a task. Run returns the first error. An error is a deadlock, a livelock, or an error that
// was passed to Fail.
func (s *Scheduler) Run(between func()) error {
	for end := s.step + maxSteps; ; {
		paused := s.paused()
		if len(paused) == 0 {
			break
		}
		if s.step > end {
			s.Fail("%w", errLivelock)
			s.cancel()
		}
		s.step++
		between()
		s.step++
		paused[s.Rand.IntN(len(paused))].wake()
	}
	if slices.ContainsFunc(s.tasks, func(t *Task) bool { return !t.done }) {
		s.Fail("%w", errDeadlock)
	}
	s.tasks = nil
	return s.err
}

// paused waits until all tasks are blocked. The result contains the tasks that can continue.
func (s *Scheduler) paused() (paused []*Task) {
	synctest.Wait()
	for _, t := range s.tasks {
		if t.paused {
			paused = append(paused, t)
		}
		t.waited = t.waited || !t.paused && !t.done
	}
	return paused
}
