package host

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// errNoSleep is the fault that is returned if the app has no sleep-time memory.
var errNoSleep = abi.Faultf(abi.NotFound, "the app has no sleep-time memory").WithHint("declare the section `sleep` in the app file")

// Pause pauses the runs in the caller's tenant until Resume is called. Runs in progress continue.
func (s Sleep) Pause(ctx context.Context, caller Caller) error {
	return s.setPaused(ctx, caller, actPause, true)
}

// Resume resumes the runs in the caller's tenant.
func (s Sleep) Resume(ctx context.Context, caller Caller) error {
	return s.setPaused(ctx, caller, actResume, false)
}

func (s Sleep) setPaused(ctx context.Context, caller Caller, act string, paused bool) error {
	return s.act(ctx, caller, act, func(queue memory.SleepQueue, tenant string) error {
		return queue.SetPaused(ctx, tenant, paused)
	})
}

// Retry makes each conversation due whose last run has failed. Retry applies to at most 1,000
// conversations in the caller's tenant. If Retry is not called, a failed run is repeated after a
// delay, which increases with each failure. Messages are discarded after 10 failed runs. Runs that
// failed before the call of Retry do not count toward this number.
func (s Sleep) Retry(ctx context.Context, caller Caller) error {
	return s.act(ctx, caller, actRetry, func(queue memory.SleepQueue, tenant string) error {
		_, err := queue.Retry(ctx, tenant)
		return err
	})
}

// act performs an operator's act on the queue of the caller's tenant. act also adds the act to the
// ledger.
func (s Sleep) act(ctx context.Context, caller Caller, act string, do func(queue memory.SleepQueue, tenant string) error) error {
	if s.h.app.Sleep == nil {
		return errNoSleep
	}
	id, err := s.h.newID(act)
	if err != nil {
		return err
	}
	err = do(memory.NewSleepQueue(s.h.memory), caller.as("").Tenant)
	s.h.ledger.recordAct(caller, id, act, report.Effects{}, err)
	return err
}
