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

// maxSteps is far above the number of steps that any scenario needs.
const maxSteps = 100_000

var (
	errDeadlock = errors.New("deadlock: the tasks wait for each other")
	errLivelock = errors.New("livelock: the tasks do not finish")
)

// Scheduler is a backend that runs tasks one at a time, in an order determined by its random
// numbers. Tasks are goroutines that pause at every operation of the backend. The scheduler waits
// until all of them are blocked, then lets one of the paused tasks continue. It relies on synctest
// to detect that all are blocked, because tasks also wait for each other's locks.
//
// Operations whose context does not belong to a task go directly to the backend.
type Scheduler struct {
	storage.Backend
	// Rand chooses the task that continues.
	Rand  *rand.Rand
	tasks []*Task
	step  int
	err   error
	// ctx is the parent of the contexts of all tasks.
	ctx    context.Context
	cancel context.CancelFunc
}

// NewScheduler returns a Scheduler without tasks. It must be called inside the bubble.
func NewScheduler(b storage.Backend, rng *rand.Rand) *Scheduler {
	s := &Scheduler{Backend: b, Rand: rng}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Step returns the number of the current step. Each choice of Run takes two steps: one for its
// function, and one for the task that continues.
func (s *Scheduler) Step() int { return s.step }

// Tasks returns the tasks that have not finished in an earlier Run.
func (s *Scheduler) Tasks() []*Task { return s.tasks }

// Fail records an error, which Run returns. Only the first one counts.
func (s *Scheduler) Fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// Err returns the first error.
func (s *Scheduler) Err() error { return s.err }

// Go creates a task that runs do. It starts when Run chooses it. Its hooks may be set until then.
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

// Run runs the tasks until all have finished, and calls between before each of them continues. It
// returns the first error: a deadlock, a livelock, or an error that was passed to Fail.
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

// paused waits until all tasks are blocked and returns those that can continue.
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
