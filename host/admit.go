package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
)

// flow returns the admission flow to which the job belongs.
func (j *job) flow() admission.Flow {
	return admission.Flow{App: j.h.app.ID, Tenant: j.info.Caller.Tenant, User: j.info.Caller.User}
}

// admit waits until the gate admits the job.
func (j *job) admit(ctx context.Context) error {
	err := j.h.gate.Acquire(ctx, j.flow())
	j.admitted = err == nil
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.Timeout {
		return err
	}
	late := *f
	late.Message += " while it was queued"
	return late.WithHint("retry with fewer concurrent requests, or raise the time limit")
}

// leave releases the slot that the job has at the gate. A job that ended while it was parked has no
// slot.
func leave(j *job) {
	if j.external == nil || !j.external.parked {
		j.h.gate.Release(j.flow())
	}
	j.admitted = false
}

// timeLimit returns the time limit of the run. A confined caller can shorten the time limit, but
// cannot raise it.
func (r *run) timeLimit() time.Duration {
	allowed := r.h.limits.timeout(r.tool.Limits.Timeout, 0)
	if r.inv.Caller.Confined && r.inv.Timeout > allowed {
		return allowed
	}
	return r.h.limits.timeout(r.tool.Limits.Timeout, r.inv.Timeout)
}

// admitted calls the function "work" after the gate has admitted the caller. Use this method for
// operations that read much data and therefore use as much CPU time as a run.
func (h *Host) admitted(ctx context.Context, caller Caller, work func() error) error {
	flow := admission.Flow{App: h.app.ID, Tenant: caller.as("").Tenant, User: caller.User}
	if err := h.gate.Acquire(ctx, flow); err != nil {
		return err
	}
	defer h.gate.Release(flow)
	return work()
}

// ready prepares the state that all attempts of the run share. ready first waits at the gate,
// because the documents of an invocation use memory and CPU time. The gate is the only limit on the
// number of concurrent invocations.
func (r *run) ready(ctx context.Context) error {
	inTime, cancel := r.bounded(ctx, r.timeLimit())
	defer cancel()
	waiting := time.Now()
	if err := r.admit(inTime); err != nil {
		r.info.QueueTime = time.Since(waiting)
		return err
	}
	defer leave(&r.job)
	began := time.Now()
	if err := r.warm(ctx); err != nil {
		return err
	}
	r.started = r.started.Add(time.Since(began)) // the start of a tool's process is not charged to the run
	return r.prepare()
}

// warm starts the resource, such as a process, that an engine needs before it can run a tool of
// this tenant.
func (r *run) warm(ctx context.Context) error {
	w, ok := r.program.(engine.Warmer)
	if !ok || w.IsWarm(r.info.Caller.Tenant) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.h.limits.LoadTimeout)
	defer cancel()
	return w.Warm(ctx, r.info.Caller.Tenant)
}
