package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
)

// Sleep is a handle for the sleep-time memory of an app. Sleep-time memory consists of runs. When a
// conversation has settled, such a run updates the blocks of the user. A Host does not begin these
// runs itself, so the program must call RunDue periodically. Sleep is safe for concurrent use.
type Sleep struct{ h *Host }

// Sleep returns a handle for the app's sleep-time memory.
func (h *Host) Sleep() Sleep { return Sleep{h} }

const (
	// sleepBatch is the maximum number of runs that one call of RunDue begins for each tenant.
	sleepBatch = 8
	// sleepRunners is the maximum number of concurrent runs in one call of RunDue.
	sleepRunners = 4
	// sleepLease is the duration of a lease on a run. If the node that began the run does not end
	// the run in this time, another node can begin the run again. sleepLease is longer than the
	// time limit of a run.
	sleepLease = 5 * time.Minute
)

// SleepPass is the result of RunDue.
type SleepPass struct {
	// Runs is the number of runs that RunDue has begun. Failed is the number of these runs that
	// failed.
	Runs   int `json:"runs"`
	Failed int `json:"failed"`
	// Postponed is the number of conversations that RunDue did not process because the conversation
	// has continued or another node is processing the conversation.
	Postponed int `json:"postponed"`
	// Dropped is the number of proposals that were dropped because they were rejected twice. The
	// log contains the reason for each dropped proposal.
	Dropped int `json:"dropped"`
}

// Plus returns the sum of two passes.
func (p SleepPass) Plus(q SleepPass) SleepPass {
	return SleepPass{
		Runs: p.Runs + q.Runs, Failed: p.Failed + q.Failed, Postponed: p.Postponed + q.Postponed, Dropped: p.Dropped + q.Dropped,
	}
}

// RunDue processes conversations of the host's tenants that have settled. RunDue begins at most 8
// runs for each tenant. RunDue begins at most one run for each user. Then it waits until all these
// runs have ended. The users take turns. If a run fails, the ledger contains the failed run, and
// the run is repeated later. If 10 runs for the same messages have failed, the messages are
// discarded. The log then contains a warning, and the ledger contains an entry. If RunDue returns
// the zero SleepPass, no run is due. RunDue does nothing if the app does not declare sleep, or if
// an operator has paused the runs of a tenant.
//
// Several nodes can call RunDue at the same time. If several nodes call RunDue, each conversation
// nevertheless changes the blocks exactly once. If a node stops during a run, the run is repeated
// and calls the tool or the model again.
func (s Sleep) RunDue(ctx context.Context) (SleepPass, error) {
	if s.h.app.Sleep == nil || s.h.closed.Load() {
		return SleepPass{}, nil
	}
	due, err := s.next(ctx)
	var (
		pass    SleepPass
		mu      sync.Mutex
		runners sync.WaitGroup
		errs    = []error{err}
	)
	slots := make(chan struct{}, sleepRunners)
	for _, d := range due {
		slots <- struct{}{}
		runners.Go(func() {
			defer func() { <-slots }()
			one, err := s.run(ctx, d)
			mu.Lock()
			defer mu.Unlock()
			pass = pass.Plus(one)
			errs = append(errs, err)
		})
	}
	runners.Wait()
	return pass, errors.Join(errs...)
}

// next returns the records of the queue that RunDue processes. The tenants take turns.
func (s Sleep) next(ctx context.Context) ([]memory.Due, error) {
	var lists [][]memory.Due
	var errs []error
	for _, tenant := range s.h.tenants {
		list, err := s.nextOf(ctx, tenant)
		lists, errs = append(lists, list), append(errs, err)
	}
	var all []memory.Due
	for i := range sleepBatch {
		for _, list := range lists {
			if i < len(list) {
				all = append(all, list[i])
			}
		}
	}
	return all, errors.Join(errs...)
}

// nextOf returns the next records of a tenant. nextOf returns at most one record for each user.
func (s Sleep) nextOf(ctx context.Context, tenant string) ([]memory.Due, error) {
	queue := memory.NewSleepQueue(s.h.memory)
	if _, paused, err := queue.Paused(ctx, tenant); err != nil || paused {
		return nil, err
	}
	return s.h.sleepRounds.next(ctx, queue, sleepQueueKey{s.h.app.ID, tenant})
}

// run leases the run of a record and executes this run. If the run fails, the returned error is
// nil, and the run is repeated later.
func (s Sleep) run(ctx context.Context, d memory.Due) (SleepPass, error) {
	if ctx.Err() != nil {
		return SleepPass{}, nil // the next call of RunDue processes the remaining records
	}
	queue := memory.NewSleepQueue(s.h.memory)
	lease, err := queue.Lease(ctx, d, s.h.app.Sleep.After, sleepLease)
	if err != nil || lease == nil {
		return SleepPass{Postponed: 1}, err
	}
	r := newSleepRun(s.h, lease)
	failed := r.execute(ctx)
	if failed == nil {
		return SleepPass{Runs: 1, Dropped: len(r.dropped)}, nil
	}
	return SleepPass{Runs: 1, Failed: 1}, s.fail(ctx, r, abi.FaultOf(failed))
}

// SleepStatus is the state of the sleep-time memory of an app in a tenant.
type SleepStatus struct {
	// Paused is true if an operator has paused the runs. If the runs are paused, Since is the time
	// at which the operator has paused the runs.
	Paused bool       `json:"paused"`
	Since  *time.Time `json:"since"`
	// Due is the number of conversations whose run is due. Waiting is the number of other
	// conversations with unprocessed messages. Running is the number of runs in progress. Failed is
	// the number of due or waiting conversations whose last run has failed.
	Due     int `json:"due"`
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	Failed  int `json:"failed"`
	// Next is the time at which the next run is due, or nil.
	Next *time.Time `json:"next"`
	// More is true if there are more conversations than Status counts.
	More bool `json:"more"`
}

// maxSleepStatus is the maximum number of conversations that Status counts.
const maxSleepStatus = 1000

// Status returns the state of the sleep-time memory in the caller's tenant. Status counts at most
// 1,000 conversations.
func (s Sleep) Status(ctx context.Context, caller Caller) (SleepStatus, error) {
	var status SleepStatus
	if s.h.app.Sleep == nil {
		return status, errNoSleep
	}
	tenant := caller.as("").Tenant
	since, paused, err := memory.NewSleepQueue(s.h.memory).Paused(ctx, tenant)
	if err != nil {
		return status, err
	}
	if status.Paused = paused; paused {
		status.Since = &since
	}
	found, err := memory.NewSleepQueue(s.h.memory).List(ctx, tenant, time.Time{}, maxSleepStatus+1)
	if err != nil {
		return status, err
	}
	if status.More = len(found) > maxSleepStatus; status.More {
		found = found[:maxSleepStatus]
	}
	now := s.h.now()
	for _, d := range found {
		status.count(d, now)
	}
	return status, nil
}

func (s *SleepStatus) count(d memory.Due, now time.Time) {
	switch {
	case d.Leased && d.At.After(now):
		s.Running++
		return
	case d.At.After(now):
		s.Waiting++
	default:
		s.Due++
	}
	if d.Code != "" {
		s.Failed++
	}
	if s.Next == nil {
		s.Next = &d.At
	}
}
