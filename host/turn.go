package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
)

// party is who the run is for, at the gate.
func (r *run) party() admission.Party {
	return admission.Party{App: r.h.app.ID, Tenant: r.info.Caller.Tenant, User: r.info.Caller.User}
}

// enter waits for the run's turn.
func (r *run) enter(ctx context.Context) error {
	err := r.h.gate.Enter(ctx, r.party())
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.Timeout {
		return err
	}
	late := *f
	late.Message += ": its time was over while it waited for its turn"
	return late.WithHint("more was asked for than may run at a time: ask for fewer at a time, or give runs more time")
}

// timeLimit is the time that the run may take. A confined caller only shortens what the platform allows.
func (r *run) timeLimit() time.Duration {
	allowed := r.h.limits.timeout(r.tool.Limits.Timeout, 0)
	if r.inv.Caller.Confined && r.inv.Timeout > allowed {
		return allowed
	}
	return r.h.limits.timeout(r.tool.Limits.Timeout, r.inv.Timeout)
}

// admitted does work for a caller that reads much, in the caller's turn at the gate: it takes the processor like runs do.
func (h *Host) admitted(ctx context.Context, caller Caller, work func() error) error {
	p := admission.Party{App: h.app.ID, Tenant: caller.as("").Tenant, User: caller.User}
	if err := h.gate.Enter(ctx, p); err != nil {
		return err
	}
	defer h.gate.Leave(p)
	return work()
}

// bounded gives the run the time that it may take, from when it started.
func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := r.timeLimit()
	if r.overtime == nil {
		r.overtime = abi.Faultf(abi.Timeout, "the run took longer than the %s it may take", limit)
	}
	return context.WithDeadlineCause(ctx, r.started.Add(limit), r.overtime)
}

// ready gets ready what all attempts share. It takes a turn of the gate, for what invocations give takes memory and
// time to look at, and there are as many invocations at a time as callers like.
func (r *run) ready(ctx context.Context) error {
	inTime, cancel := r.bounded(ctx)
	defer cancel()
	waiting := time.Now()
	if err := r.enter(inTime); err != nil {
		r.info.Waited = time.Since(waiting)
		return err
	}
	defer r.h.gate.Leave(r.party())
	began := time.Now()
	if err := r.warm(ctx); err != nil {
		return err
	}
	r.started = r.started.Add(time.Since(began)) // starting what runs the tool is none of the run's time
	return r.prepare()
}

// warm gets the engine ready for a run for this tenant, where it has something to do first.
func (r *run) warm(ctx context.Context) error {
	w, ok := r.program.(engine.Warmer)
	if !ok || w.IsWarm(r.info.Caller.Tenant) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.h.limits.LoadTimeout)
	defer cancel()
	return w.Warm(ctx, r.info.Caller.Tenant)
}
