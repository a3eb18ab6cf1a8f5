package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

const (
	// sleepRetry is the delay before a failed run is repeated for the first time. The delay doubles
	// with each further repetition, up to maxSleepRetry.
	sleepRetry    = time.Minute
	maxSleepRetry = 4 * time.Hour
	// maxSleepTries is the maximum number of runs for the same messages. The last run begins about
	// 8 hours after the first run. Therefore no messages are lost if a model is unavailable for
	// some hours.
	maxSleepTries = 10
)

// fail ends the lease of a run that has failed. The failed run is repeated later. If too many runs
// for the same messages have failed, the messages are discarded.
func (s Sleep) fail(ctx context.Context, r *sleepRun, f *abi.Fault) error {
	lease := r.lease
	attrs := []any{"run", r.turn.info.ID, "app", s.h.app.ID, "tenant", lease.Tenant, "tries", lease.Tries, "code", f.Code}
	if message := loggedMessage(f); message != "" {
		attrs = append(attrs, "message", message)
	}
	s.h.log.Warn("a run of sleep-time memory failed", attrs...)
	if lease.Tries >= maxSleepTries {
		return s.giveUp(ctx, lease, f.Code)
	}
	return memory.NewSleepQueue(s.h.memory).Release(context.WithoutCancel(ctx), lease, retryAfter(lease.Tries), f.Code)
}

// loggedMessage returns the message of a fault if the message may be logged. The code of a tool can
// put any text into the message of its own fault, even a part of the conversation. For such a
// fault, loggedMessage returns "".
func loggedMessage(f *abi.Fault) string {
	if f.Code == abi.ToolError || f.File != "" || f.Stack != "" {
		return ""
	}
	return f.Message
}

// giveUp discards the messages of a run that has failed too often, and adds an entry to the ledger.
// If the conversation has continued in the meantime, the run is repeated later.
func (s Sleep) giveUp(ctx context.Context, lease *memory.Lease, code abi.Code) error {
	ctx = context.WithoutCancel(ctx)
	queue := memory.NewSleepQueue(s.h.memory)
	entry, err := s.discardEntry(lease, code)
	if err != nil {
		return err
	}
	discarded, err := queue.Discard(ctx, lease, entry)
	if err != nil || !discarded {
		return errors.Join(err, queue.Release(ctx, lease, retryAfter(lease.Tries), code))
	}
	s.h.log.Warn("the messages of a conversation were discarded after too many failed runs of sleep-time memory", "run", entry.Run,
		"app", s.h.app.ID, "tenant", lease.Tenant, "session", lease.Session, "tries", lease.Tries, "code", code)
	return nil
}

// discardEntry returns the ledger entry of discarded messages. The entry contains the code of the
// last fault.
func (s Sleep) discardEntry(lease *memory.Lease, code abi.Code) (*ledger.Entry, error) {
	id, err := s.h.newID(actDiscard)
	if err != nil {
		return nil, err
	}
	caller := Caller{Tenant: lease.Tenant, User: lease.User, Session: lease.Session, Agent: lease.Agent}
	entry := s.h.ledger.act(caller, id, actDiscard, report.Effects{}, &abi.Fault{Code: code})
	return &entry, nil
}

// retryAfter returns the delay before a run that has failed the given number of times is repeated.
func retryAfter(tries int) time.Duration {
	return min(sleepRetry<<min(max(tries-1, 0), 20), maxSleepRetry)
}
